using System.Text.RegularExpressions;

namespace QuickSilver.Packages.Tests.Infrastructure;

// All programs of users that need nothing but the feed, each with a project of its own that references packages, in one solution that is
// built once. A program that does not build fails the tests that ask for it, and no others.
internal sealed partial class BuiltPrograms
{
    // For some fifty programs.
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(15);

    private readonly string _folder;
    private readonly string _written;

    public BuiltPrograms(Feed feed)
    {
        _folder = feed.NewcomersFolder("users");
        UserProgram[] programs =
        [
            .. TwelvePrograms.All.Where(static one => one.Name != TwelvePrograms.AheadOfTime),
            .. DocumentationTests.UserPrograms,
            .. NewcomerTests.UserPrograms,
            .. WebApplicationTests.UserPrograms,
            PrefixProgramTests.UserProgram,
            UserShapesTests.UserProgram,
            FamilyPackageTests.UserProgram,
        ];
        foreach (var program in programs)
        {
            program.Write(Directory.CreateDirectory(FolderOf(program.Name)).FullName);
        }

        var projects = programs.Select(static one => $"""  <Project Path="{one.Name}/{one.Name}.csproj" />""");
        File.WriteAllText(Path.Combine(_folder, "Users.slnx"), $"<Solution>\n{string.Join('\n', projects)}\n</Solution>\n");
        string[] build = ["build", "Users.slnx", "-warnaserror", "-p:EmitCompilerGeneratedFiles=true"];
        _written = DotnetCommand.TryWithin(Limit, _folder, "dotnet", build)?.Written ?? $"The build had not ended after {Limit}.";
    }

    /// <summary>The folder of a program, in which its runs may write.</summary>
    public string FolderOf(string name) => Path.Combine(_folder, name);

    /// <summary>The assembly of a program, which must have been built without a warning.</summary>
    public string FileOf(string name)
    {
        var said = Said().Matches(_written).Select(static line => line.Value)
            .Where(line => line.Contains($"{Path.DirectorySeparatorChar}{name}{Path.DirectorySeparatorChar}", StringComparison.Ordinal));
        Assert.Empty(said.Distinct());
        string file = Path.Combine(FolderOf(name), "bin", "Debug", "net10.0", $"{name}.dll");
        Assert.True(File.Exists(file), $"{name} was not built: {_written}");
        return file;
    }

    /// <summary>Runs a program to its end, which must be with 0.</summary>
    public string Run(string name, params string[] arguments) =>
        DotnetCommand.Dotnet(FolderOf(name), [FileOf(name), .. arguments]);

    /// <summary>Runs the tests of a project, all of which must pass.</summary>
    public string Test(string name) => DotnetCommand.Dotnet(FolderOf(name), "test", FileOf(name));

    public RunningProgram Start(string name, params string[] arguments) =>
        RunningProgram.Start(FolderOf(name), "dotnet", [FileOf(name), .. arguments]);

    [GeneratedRegex("^.*: (?:error|warning) .*$", RegexOptions.Multiline)]
    private static partial Regex Said();
}
