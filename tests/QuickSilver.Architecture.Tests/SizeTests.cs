using QuickSilver.Architecture.Tests.Reading;

namespace QuickSilver.Architecture.Tests;

// The limits of a file's lines and of a folder's files, for the product and for tests. There are no exceptions.
public sealed class SizeTests
{
    private const int MaxFileLines = 500;
    private const int MaxFilesInFolder = 15;

    private static IEnumerable<string> Sources => Repository.Files(["src", "tools", "samples", "benchmarks", "tests"], ".cs");

    [Fact]
    public void Files_are_at_most_500_lines() => Violations.AssertNone(
        from file in Sources
        let lines = Repository.ReadLines(file).Length
        where lines > MaxFileLines
        select $"{file} has {lines} lines, and may have {MaxFileLines}");

    [Fact]
    public void Folders_have_at_most_15_files() => Violations.AssertNone(
        from folder in Sources.CountBy(static file => Path.GetDirectoryName(file)!)
        where folder.Value > MaxFilesInFolder
        select $"{folder.Key} has {folder.Value} files, and may have {MaxFilesInFolder}");
}
