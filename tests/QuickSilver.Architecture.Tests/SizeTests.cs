using QuickSilver.Architecture.Tests.Reading;

namespace QuickSilver.Architecture.Tests;

// The limits of a file's lines and of a folder's files, for the product and for tests. An exception has a limit of its own, and leaves the
// list as soon as it is within the general one: the lists only become shorter.
public sealed class SizeTests
{
    private const int MaxFileLines = 500;
    private const int MaxFilesInFolder = 15;

    private static readonly Dictionary<string, int> LongFiles = [];

    private static readonly Dictionary<string, int> FullFolders = [];

    private static IEnumerable<string> Sources => Repository.Files(["src", "tools", "samples", "benchmarks", "tests"], ".cs");

    [Fact]
    public void Files_are_at_most_500_lines() => AssertWithin(
        MaxFileLines,
        LongFiles,
        Sources.ToDictionary(static file => file, static file => Repository.ReadLines(file).Length),
        "lines");

    [Fact]
    public void Folders_have_at_most_15_files() => AssertWithin(
        MaxFilesInFolder,
        FullFolders,
        Sources.CountBy(static file => Path.GetDirectoryName(file)!).ToDictionary(),
        "files");

    private static void AssertWithin(int limit, Dictionary<string, int> exceptions, Dictionary<string, int> sizes, string what)
    {
        Violations.AssertNone(
            from pair in sizes
            let most = exceptions.GetValueOrDefault(pair.Key, limit)
            where pair.Value > most
            select $"{pair.Key} has {pair.Value} {what}, and may have {most}");
        Violations.AssertNone(
            from exception in exceptions
            where sizes.GetValueOrDefault(exception.Key) <= limit
            select $"{exception.Key} is no exception any more: take it from the list");
    }
}
