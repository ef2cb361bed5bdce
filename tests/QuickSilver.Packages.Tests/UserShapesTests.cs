using System.Text;
using QuickSilver.Packages.Tests.Infrastructure;

namespace QuickSilver.Packages.Tests;

// A user's own types, against the package alone: the program in the folder Shapes, as two processes on the loopback interface.
[Collection(nameof(Feed))]
public sealed class UserShapesTests(Feed feed)
{
    private const int WideFields = 200;

    [Fact]
    public async Task Each_shape_of_type_and_each_version_of_one_is_exchanged_by_two_processes()
    {
        string folder = feed.NewcomersFolder("shapes");
        foreach (string source in Directory.EnumerateFiles(Path.Combine(Feed.Root, "tests", "QuickSilver.Packages.Tests", "Shapes")))
        {
            File.Copy(source, Path.Combine(folder, Path.GetFileName(source)));
        }

        File.WriteAllText(Path.Combine(folder, "Wide.cs"), Wide());
        NewcomersProject.Write(folder, "Shapes", NewcomersProject.Kind.Program, ("QuickSilver", Feed.Version));
        DotnetCommand.Dotnet(folder, "build", "-warnaserror", "-o", "bin");

        // A name of its own: other clusters may be on this interface.
        string cluster = $"shapes-{Guid.NewGuid():N}";
        string[] written = await Task.WhenAll(
            Task.Run(() => DotnetCommand.Dotnet(folder, Path.Combine("bin", "Shapes.dll"), "old", cluster)),
            Task.Run(() => DotnetCommand.Dotnet(folder, Path.Combine("bin", "Shapes.dll"), "new", cluster)));
        Assert.All(written, text => Assert.Matches("^[0-9]+ types were exchanged\\.", text));
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
