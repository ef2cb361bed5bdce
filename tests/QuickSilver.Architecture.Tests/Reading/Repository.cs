using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Architecture.Tests.Reading;

// The files of this repository as they were written, without what a build makes of them.
internal static class Repository
{
    private static readonly string[] Made = ["bin", "obj", "artifacts", ".git", "TestResults"];

    public static string Root => RepositoryRoot.Path;

    /// <summary>Files under the named folders, as paths from the root with forward slashes.</summary>
    public static IEnumerable<string> Files(string[] folders, params string[] extensions) =>
        folders.Select(f => Path.Combine(Root, f)).Where(Directory.Exists).SelectMany(Walk)
            .Where(f => extensions.Contains(Path.GetExtension(f)))
            .Select(f => Path.GetRelativePath(Root, f).Replace('\\', '/'))
            .Order(StringComparer.Ordinal);

    public static string Read(string path) => File.ReadAllText(Path.Combine(Root, path));

    public static string[] ReadLines(string path) => File.ReadAllLines(Path.Combine(Root, path));

    private static IEnumerable<string> Walk(string folder) =>
        Directory.EnumerateFiles(folder).Concat(
            Directory.EnumerateDirectories(folder).Where(d => !Made.Contains(Path.GetFileName(d))).SelectMany(Walk));
}
