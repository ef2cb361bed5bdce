namespace QuickSilver.Packages.Tests.Infrastructure;

// What a user writes: a project of some kind that adds packages, and its files.
internal sealed record UserProgram(
    string Name, NewcomersProject.Kind Kind, (string Id, string Version)[] Packages, IReadOnlyDictionary<string, string> Files)
{
    /// <summary>The names of the programs that it refers to as projects.</summary>
    public string[] References { get; init; } = [];

    /// <summary>A program of one file.</summary>
    public static UserProgram Of(
        string name, NewcomersProject.Kind kind, string source, params (string Id, string Version)[] packages) =>
        new(name, kind, packages, new Dictionary<string, string> { ["Program.cs"] = source });

    public void Write(string folder)
    {
        foreach (var (file, text) in Files)
        {
            File.WriteAllText(Path.Combine(folder, file), text);
        }

        NewcomersProject.Write(folder, Name, Kind, Packages, [.. References.Select(static one => $"../{one}/{one}.csproj")]);
    }
}
