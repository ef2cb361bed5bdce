using System.IO.Compression;
using System.Xml.Linq;

namespace QuickSilver.Packages.Tests.Infrastructure;

// A package as it lies in the feed: its files and what it says of itself.
internal sealed class PackageFile
{
    private readonly Dictionary<string, byte[]> _files = [];
    private readonly XElement _metadata;

    public PackageFile(string path)
    {
        using var archive = ZipFile.OpenRead(path);
        foreach (var entry in archive.Entries)
        {
            using var content = entry.Open();
            using var bytes = new MemoryStream();
            content.CopyTo(bytes);
            _files[entry.FullName] = bytes.ToArray();
        }

        string nuspec = _files.Keys.Single(name => name.EndsWith(".nuspec", StringComparison.Ordinal));
        _metadata = Elements(XDocument.Load(new MemoryStream(_files[nuspec])).Root!, "metadata").Single();
    }

    /// <summary>The files that are not the archive's own, in order.</summary>
    public IEnumerable<string> Files => _files.Keys
        .Where(name => !name.StartsWith("_rels/", StringComparison.Ordinal) && !name.StartsWith("package/", StringComparison.Ordinal))
        .Where(name => name != "[Content_Types].xml" && !name.EndsWith(".nuspec", StringComparison.Ordinal))
        .Order(StringComparer.Ordinal);

    /// <summary>For its one target framework.</summary>
    public IReadOnlyList<PackageDependency> Dependencies =>
    [
        .. Elements(_metadata, "dependencies").SelectMany(all => Elements(all, "group")).SelectMany(group => Elements(group, "dependency"))
            .Select(one => new PackageDependency(
                (string)one.Attribute("id")!,
                (string)one.Attribute("version")!,
                ((string?)one.Attribute("exclude") ?? "").Contains("Analyzers", StringComparison.Ordinal))),
    ];

    public IEnumerable<string> Types =>
        Elements(_metadata, "packageTypes").SelectMany(all => Elements(all, "packageType")).Select(one => (string)one.Attribute("name")!);

    public byte[] Content(string file) => _files[file];

    public string? Says(string property) => Elements(_metadata, property).SingleOrDefault()?.Value;

    public string? Repository(string attribute) => (string?)Elements(_metadata, "repository").SingleOrDefault()?.Attribute(attribute);

    // The schema's namespace changes with what a package uses of it.
    private static IEnumerable<XElement> Elements(XElement parent, string name) =>
        parent.Elements().Where(element => element.Name.LocalName == name);
}

internal sealed record PackageDependency(string Id, string Version, bool HidesAnalyzers);
