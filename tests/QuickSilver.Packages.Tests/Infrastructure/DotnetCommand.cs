using System.Diagnostics;

namespace QuickSilver.Packages.Tests.Infrastructure;

// The SDK's command line as a user runs it, apart from the build that these tests are part of.
internal static class DotnetCommand
{
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(3);

    /// <summary>Runs a program that must end with 0 and returns what it wrote; what it wrote is the message where it does not.</summary>
    public static string Run(string folder, string program, params string[] arguments)
    {
        var (code, written) = RunToEnd(folder, program, arguments);
        Assert.True(code == 0, $"{program} {string.Join(' ', arguments)} ended with {code}:\n{written}");
        return written;
    }

    /// <summary>The same of a program that must end with anything but 0.</summary>
    public static string Fail(string folder, string program, params string[] arguments)
    {
        var (code, written) = RunToEnd(folder, program, arguments);
        Assert.True(code != 0, $"{program} {string.Join(' ', arguments)} ended with 0:\n{written}");
        return written;
    }

    /// <summary>The same of a program that may end with anything.</summary>
    public static (int Code, string Written) Try(string folder, string program, params string[] arguments) =>
        RunToEnd(folder, program, arguments);

    /// <summary>The same of a program that may also not end. Null: it had not ended within the limit, and was ended.</summary>
    public static (int Code, string Written)? TryWithin(TimeSpan limit, string folder, string program, params string[] arguments) =>
        RunWithin(limit, folder, program, arguments);

    public static string Dotnet(string folder, params string[] arguments) => Run(folder, "dotnet", arguments);

    private static (int Code, string Written) RunToEnd(string folder, string program, string[] arguments)
    {
        var ended = RunWithin(Limit, folder, program, arguments);
        Assert.True(ended is not null, $"{program} {string.Join(' ', arguments)} had not ended after {Limit}.");
        return ended.Value;
    }

    private static (int Code, string Written)? RunWithin(TimeSpan limit, string folder, string program, string[] arguments)
    {
        var start = new ProcessStartInfo(program, arguments)
        {
            WorkingDirectory = folder,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        Separate(start.Environment);
        if (folder != Feed.Root)
        {
            // What is installed here is no version that other builds should find.
            start.Environment["NUGET_PACKAGES"] = Feed.NewcomersPackages;
        }

        using var process = Process.Start(start)!;
        var output = process.StandardOutput.ReadToEndAsync();
        var errors = process.StandardError.ReadToEndAsync();
        if (!process.WaitForExit(limit))
        {
            process.Kill(entireProcessTree: true);
            return null;
        }

        return (process.ExitCode, output.Result + errors.Result);
    }

    private static void Separate(IDictionary<string, string?> environment)
    {
        // What the build above says of itself is not meant for this one.
        foreach (string name in environment.Keys.Where(IsOfTheBuild).ToList())
        {
            environment.Remove(name);
        }

        // Build servers that stay behind would hold the pipes open after the command has ended. The compiler server has pipes of its own:
        // it compiles the many small projects in a fraction of the time, and ends when it has had nothing to do for a while.
        environment["MSBUILDDISABLENODEREUSE"] = "1";
        environment["UseSharedCompilation"] = "true";
        environment["DOTNET_CLI_USE_MSBUILD_SERVER"] = "0";
        environment["DOTNET_CLI_TELEMETRY_OPTOUT"] = "1";
        environment["DOTNET_CLI_UI_LANGUAGE"] = "en";
        environment["DOTNET_NOLOGO"] = "1";
    }

    private static bool IsOfTheBuild(string variable) =>
        variable.StartsWith("MSBUILD", StringComparison.OrdinalIgnoreCase) || variable.StartsWith("VSTEST", StringComparison.Ordinal);
}
