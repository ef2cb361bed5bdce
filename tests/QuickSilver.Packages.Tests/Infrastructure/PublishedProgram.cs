using System.Runtime.InteropServices;

namespace QuickSilver.Packages.Tests.Infrastructure;

// Two programs of users in one application, which is published for this machine, compiled ahead of time or trimmed: the program of the
// page, which opens a node, and a host. To compile one ahead of time takes most of a minute.
internal sealed class PublishedProgram
{
    /// <summary>The first argument with which the application is the host.</summary>
    public const string HostArgument = "host";

    private const string Name = "Ahead";

    /// <summary>Publishes the application without a warning. Skips the test if the machine lacks what that needs.</summary>
    /// <param name="feed">The packages.</param>
    /// <param name="how">The property: <c>PublishAot</c> or <c>PublishTrimmed</c>.</param>
    public PublishedProgram(Feed feed, string how)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "The compiler's own linker is known on Linux only.");
        string folder = feed.NewcomersFolder(how, withPublicFeed: true);
        Write(folder);
        string[] publish =
        [
            "publish", "-c", "Release", "-r", RuntimeInformation.RuntimeIdentifier, "-o", "out", $"-p:{how}=true", "--self-contained",
            "-p:TrimmerSingleWarn=false", "-p:InvariantGlobalization=true", "-warnaserror",
        ];
        var (code, written) = DotnetCommand.Try(folder, "dotnet", publish);
        string[] lacking = ["NU1101", "NU1102", "NU1301", "Platform linker"];
        Assert.SkipWhen(code != 0 && lacking.Any(written.Contains), $"This machine lacks what {how} needs: {written}");
        Assert.True(code == 0, written);
        Folder = Path.Combine(folder, "out");
    }

    /// <summary>Where the application lies with all that it needs.</summary>
    public string Folder { get; }

    public string File => Path.Combine(Folder, Name);

    private static void Write(string folder)
    {
        string page = TwelvePrograms.All.Single(static one => one.Name == TwelvePrograms.AheadOfTime).Files["Program.cs"];
        string begin = "using QuickSilver;\n";
        Assert.Contains(begin, page);
        string isHost = $$"""
            if (args[0] == "{{HostArgument}}")
            {
                await HostProgram.RunAsync(args[1]);
                return;
            }

            """;
        string both = page.Replace(begin, $"{begin}\n{isHost}", StringComparison.Ordinal);
        System.IO.File.WriteAllText(Path.Combine(folder, "Program.cs"), both);
        string host = Path.Combine(Feed.Root, "tests", "QuickSilver.Packages.Tests", "Hosts", "HostProgram.cs");
        System.IO.File.Copy(host, Path.Combine(folder, "HostProgram.cs"));
        NewcomersProject.Write(
            folder,
            Name,
            NewcomersProject.Kind.Program,
            ("QuickSilver.Hosting", Feed.Version),
            ("Microsoft.Extensions.Hosting", Feed.Known("Microsoft.Extensions.Hosting")));
    }
}
