using System.Diagnostics;
using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;
using QuickSilver.Packages.Tests.Infrastructure;

namespace QuickSilver.Packages.Tests;

// A user's own types, against the package alone: the program in the folder Shapes, as two processes on the loopback interface.
[Collection(nameof(Feed))]
public sealed class UserShapesTests(Feed feed)
{
    private const int WideFields = 200;

    internal static UserProgram UserProgram { get; } = new(
        "Shapes",
        NewcomersProject.Kind.Program,
        [("QuickSilver", Feed.Version)],
        Directory.EnumerateFiles(Path.Combine(Feed.Root, "tests", "QuickSilver.Packages.Tests", "Shapes"))
            .Select(static file => (Name: Path.GetFileName(file), Text: File.ReadAllText(file)))
            .Append((Name: "Wide.cs", Text: Wide()))
            .ToDictionary(static file => file.Name, static file => file.Text));

    [Fact]
    public async Task Each_shape_of_type_and_each_version_of_one_is_exchanged_by_two_processes()
    {
        // A name of its own: other clusters may be on this interface.
        string cluster = $"shapes-{Guid.NewGuid():N}";
        string[] written = await Task.WhenAll(
            Task.Run(() => feed.Programs.Run("Shapes", "old", cluster)),
            Task.Run(() => feed.Programs.Run("Shapes", "new", cluster)));
        Assert.All(written, text => Assert.Matches("^[0-9]+ types were exchanged\\.", text));
    }

    [Fact]
    public void The_csharp_source_that_the_shell_prints_of_each_topic_compiles_and_opens_it()
    {
        string folder = feed.NewcomersFolder("held");
        string cluster = $"held-{Guid.NewGuid():N}";
        DotnetCommand.Dotnet(folder, "tool", "install", "qsm", "--version", Feed.Version, "--tool-path", "tools");
        string qsm = Path.Combine(folder, "tools", OperatingSystem.IsWindows() ? "qsm.exe" : "qsm");
        using var holder = Process.Start(new ProcessStartInfo("dotnet", [feed.Programs.FileOf("Shapes"), "hold", cluster])
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
        })!;
        try
        {
            Assert.Equal("open", holder.StandardOutput.ReadLine());
            string[] topics =
            [
                .. DotnetCommand.Run(folder, qsm, "topics", "--cluster", cluster, "--json")
                    .Split('\n', StringSplitOptions.RemoveEmptyEntries)
                    .Select(static line => JsonDocument.Parse(line).RootElement.GetProperty("topic").GetString()!),
            ];
            Assert.InRange(topics.Length, 20, 200);
            string user = feed.NewcomersFolder("opened");
            var calls = new StringBuilder();
            for (int i = 0; i < topics.Length; i++)
            {
                string space = $"Shape{i}";
                string source = DotnetCommand.Run(
                    folder, qsm, "topic", "describe", topics[i], "--cluster", cluster, "--csharp", "--namespace", space);
                File.WriteAllText(Path.Combine(user, $"{space}.cs"), source);
                string opener = Regex.Match(source, @"public static class (@?\w+)").Groups[1].Value;
                calls.Append($"await {space}.{opener}.OpenTopicAsync(node);\n");
            }

            File.WriteAllText(Path.Combine(user, "Program.cs"), $$"""
                using QuickSilver;

                await using var node = await QuickSilverNode.StartAsync(new QuickSilverOptions { Cluster = args[0] });
                {{calls}}
                Console.WriteLine("All topics were opened.");
                """);
            NewcomersProject.Write(user, "Opened", NewcomersProject.Kind.Program, ("QuickSilver", Feed.Version));
            DotnetCommand.Dotnet(user, "build", "-warnaserror", "-o", "bin");
            Assert.StartsWith("All topics were opened.", DotnetCommand.Dotnet(user, Path.Combine("bin", "Opened.dll"), cluster));
        }
        finally
        {
            holder.Kill();
            holder.WaitForExit();
        }
    }

    // As generated code has them, with several types.
    private static string Wide()
    {
        string[] types = ["int", "string?", "double?", "Point", "List<Leg>"];
        string[] values = ["1", "\"two\"", "0.5", "new(3, 4)", "[new() { From = \"five\" }]"];
        var text = new StringBuilder("using System.Runtime.Serialization;\n\n[DataContract]\npublic sealed class Wide\n{\n");
        for (int number = 1; number <= WideFields; number++)
        {
            string type = types[number % types.Length];
            string initial = type.StartsWith("List", StringComparison.Ordinal) ? " = [];" : "";
            text.Append($"    [DataMember(Order = {number})] public {type} Field{number} {{ get; set; }}{initial}\n");
        }

        text.Append("\n    public static Wide Sample() => new()\n    {\n");
        for (int number = 1; number <= WideFields; number++)
        {
            text.Append($"        Field{number} = {values[number % values.Length]},\n");
        }

        return text.Append("    };\n}\n\n").Append(Nested()).ToString();
    }

    // Each level holds the next one twice: 255 paths to eight types.
    private static string Nested()
    {
        const int Levels = 8;
        var text = new StringBuilder();
        for (int level = 0; level < Levels; level++)
        {
            string next = level < Levels - 1 ? $"Level{level + 1}" : "Point";
            text.Append($"[DataContract]\npublic sealed class Level{level}\n{{\n");
            text.Append($"    [DataMember(Order = 1)] public {next}? Left {{ get; set; }}\n");
            text.Append($"    [DataMember(Order = 2)] public List<{next}> Right {{ get; set; }} = [];\n\n");
            string sample = level < Levels - 1 ? $"{next}.Sample" : "new(1, 2)";
            text.Append($"    public static Level{level} Sample => new() {{ Left = {sample}, Right = [{sample}] }};\n}}\n\n");
        }

        return text.ToString();
    }
}
