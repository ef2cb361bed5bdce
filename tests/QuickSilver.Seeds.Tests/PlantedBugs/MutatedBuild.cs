using System.Diagnostics;
using System.Globalization;
using System.Reflection;
using System.Security;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Seeds.Tests.PlantedBugs;

// A copy of this assembly's output in which one assembly of the protocol has a bug, compiled from the sources as the build
// compiles them, with one file changed. Nothing of the product knows of it.
internal sealed class MutatedBuild : IDisposable
{
    private static readonly TimeSpan CompileLimit = TimeSpan.FromMinutes(10);
    private static readonly TimeSpan RunLimit = TimeSpan.FromMinutes(60);

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("quicksilver-planted-");

    public MutatedBuild(PlantedBug bug)
    {
        string copy = Path.Combine(_folder.FullName, "mutated.cs");
        string file = Path.Combine(Root, bug.File);
        File.WriteAllText(copy, bug.Plant(File.ReadAllText(file)));
        string targets = Path.Combine(_folder.FullName, "mutation.targets");
        File.WriteAllText(targets, $"""
            <Project>
              <ItemGroup>
                <Compile Remove="{SecurityElement.Escape(file)}" />
                <Compile Include="{SecurityElement.Escape(copy)}" />
              </ItemGroup>
            </Project>
            """);
        string objects = Path.Combine(_folder.FullName, "obj") + Path.DirectorySeparatorChar;
        string project = Path.Combine(Root, "src", bug.Project, bug.Project + ".csproj");
        string configuration = typeof(MutatedBuild).Assembly.GetCustomAttribute<AssemblyConfigurationAttribute>()!.Configuration;
        // A mistake may well be one that an analyzer warns of; and the other projects were built before.
        var (exitCode, output) = Run(CompileLimit,
        [
            "msbuild", project, "-nologo", "-v:m", "-t:ResolveReferences;CoreCompile", $"-p:Configuration={configuration}",
            "-p:BuildProjectReferences=false", "-p:ProduceReferenceAssembly=false", "-p:RunAnalyzers=false",
            "-p:TreatWarningsAsErrors=false",
            $"-p:IntermediateOutputPath={objects}", $"-p:CustomAfterMicrosoftCommonTargets={targets}",
        ]);
        string compiled = Path.Combine(objects, bug.Project + ".dll");
        Assert.True(exitCode == 0 && File.Exists(compiled), $"'{bug.Name}' does not compile:\n{output}");
        Copy(AppContext.BaseDirectory, Output);
        File.Copy(compiled, Path.Combine(Output, bug.Project + ".dll"), overwrite: true);
    }

    public static string Root => RepositoryRoot.Path;

    private string Output => Path.Combine(_folder.FullName, "bin");

    /// <summary>The first seed of the campaign, from the first of the bug on, that fails; null when none does.</summary>
    /// <param name="seeds">How many are tried.</param>
    /// <param name="bug">What is planted: it has the campaign, and what each seed meets.</param>
    public ulong? FirstFailing(int seeds, PlantedBug bug)
    {
        string[] campaign = bug.Campaign is { } name ? [name, "first"] : ["first"];
        string assembly = Path.Combine(Output, Path.GetFileName(typeof(MutatedBuild).Assembly.Location));
        string first = bug.FirstSeed.ToString(CultureInfo.InvariantCulture);
        string count = seeds.ToString(CultureInfo.InvariantCulture);
        var (exitCode, output) = Run(RunLimit, ["exec", assembly, first, count, .. campaign], bug.Hardships);
        string? found = output.Split('\n').LastOrDefault(line => line.StartsWith(Program.Found, StringComparison.Ordinal));
        Assert.True(exitCode == (found is null ? 0 : 1), $"The campaign ended with {exitCode}:\n{output}");
        return found is null ? null : ulong.Parse(found[Program.Found.Length..].Trim(), CultureInfo.InvariantCulture);
    }

    public void Dispose() => _folder.Delete(recursive: true);

    private static (int ExitCode, string Output) Run(TimeSpan limit, string[] arguments, string? hardships = null)
    {
        var start = new ProcessStartInfo("dotnet", arguments)
        {
            WorkingDirectory = Root,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        // What the build above says of itself is not meant for this one, and no server is to stay behind that holds the pipes open.
        foreach (string name in start.Environment.Keys.Where(IsOfTheBuild).ToArray())
        {
            start.Environment.Remove(name);
        }

        if (hardships is not null)
        {
            start.Environment["QS_HARDSHIPS"] = hardships;
        }

        start.Environment["MSBUILDDISABLENODEREUSE"] = "1";
        start.Environment["UseSharedCompilation"] = "false";
        start.Environment["DOTNET_CLI_USE_MSBUILD_SERVER"] = "0";
        using var process = Process.Start(start)!;
        var output = process.StandardOutput.ReadToEndAsync();
        var errors = process.StandardError.ReadToEndAsync();
        if (!process.WaitForExit(limit))
        {
            process.Kill(entireProcessTree: true);
            Assert.Fail($"dotnet {arguments[0]} had not ended after {limit}.");
        }

        return (process.ExitCode, output.Result + errors.Result);
    }

    private static bool IsOfTheBuild(string variable) =>
        variable.StartsWith("MSBUILD", StringComparison.OrdinalIgnoreCase) || variable.StartsWith("VSTEST", StringComparison.Ordinal);

    private static void Copy(string from, string to)
    {
        Directory.CreateDirectory(to);
        foreach (string file in Directory.EnumerateFiles(from, "*", SearchOption.AllDirectories))
        {
            string copy = Path.Combine(to, Path.GetRelativePath(from, file));
            Directory.CreateDirectory(Path.GetDirectoryName(copy)!);
            File.Copy(file, copy);
        }
    }
}
