using System.Xml.Linq;

namespace QuickSilver.Architecture.Tests.Reading;

// One project of the repository, and the projects that it refers to.
internal sealed class ProjectFile
{
    private readonly XDocument _document;

    private ProjectFile(string path)
    {
        Path = path;
        Name = System.IO.Path.GetFileNameWithoutExtension(path);
        _document = XDocument.Parse(Repository.Read(path));
    }

    public string Path { get; }

    public string Name { get; }

    public string Folder => Path[..Path.LastIndexOf('/')];

    public string RootNamespace => _document.Descendants("RootNamespace").FirstOrDefault()?.Value ?? Name;

    public bool DeclaresFriends => _document.Descendants("InternalsVisibleTo").Any();

    /// <summary>Projects whose code this one uses; analyzers and what is only built along are not among them.</summary>
    public IReadOnlyList<string> References =>
        [.. _document.Descendants("ProjectReference").Where(UsesCode).Select(r => NameOf((string)r.Attribute("Include")!))];

    public static IReadOnlyList<ProjectFile> All(params string[] folders) =>
        [.. Repository.Files(folders, ".csproj").Select(p => new ProjectFile(p))];

    /// <summary>
    /// Each pair of a project and a friend that sees its internals, by the one table of the repository; what projects show to their own
    /// tests is not among them.
    /// </summary>
    public static IEnumerable<(string Owner, string Friend)> Friends()
    {
        var table = XDocument.Parse(Repository.Read("Directory.Build.targets"));
        foreach (var entry in table.Descendants("InternalsVisibleTo"))
        {
            var friends = (string)entry.Attribute("Include")!;
            if (friends == "$(MSBuildProjectName).Tests")
            {
                continue;
            }

            var owner = ((string)entry.Parent!.Attribute("Condition")!).Split('\'')[^2];
            foreach (var friend in friends.Split(';', StringSplitOptions.RemoveEmptyEntries))
            {
                yield return (owner, friend.Trim());
            }
        }
    }

    private static bool UsesCode(XElement reference) =>
        !string.Equals((string?)reference.Attribute("ReferenceOutputAssembly"), "false", StringComparison.OrdinalIgnoreCase)
        && !string.Equals((string?)reference.Attribute("OutputItemType"), "Analyzer", StringComparison.OrdinalIgnoreCase);

    private static string NameOf(string include) => System.IO.Path.GetFileNameWithoutExtension(include.Replace('\\', '/'));
}
