namespace QuickSilver.Fuzz;

// The inputs that are kept in files: a folder for each target.
internal static class Corpus
{
    /// <summary>Writes the valid inputs of each target. What else lies in the folders stays.</summary>
    public static void WriteSeeds(string folder)
    {
        foreach (var target in FuzzTargets.All)
        {
            string own = Path.Combine(folder, target.Name);
            Directory.CreateDirectory(own);
            foreach (var seed in target.Seeds())
            {
                File.WriteAllBytes(Path.Combine(own, $"{seed.Name}.bin"), seed.Bytes);
            }
        }
    }

    /// <summary>The files that these paths name, and those in the folders that they name.</summary>
    public static IEnumerable<string> FilesOf(IEnumerable<string> paths) =>
        paths.SelectMany(path => Directory.Exists(path)
            ? Directory.EnumerateFiles(path).Order(StringComparer.Ordinal)
            : Enumerable.Repeat(path, 1));

    /// <summary>Runs the files and reports what is thrown.</summary>
    /// <returns>How many files have a finding.</returns>
    public static int Replay(FuzzTarget target, IEnumerable<string> paths, TextWriter report)
    {
        int files = 0, findings = 0;
        foreach (string file in FilesOf(paths))
        {
            files++;
            try
            {
                FuzzRun.Execute(target, File.ReadAllBytes(file));
            }
            catch (Exception finding)
            {
                findings++;
                report.WriteLine($"{file}: {finding}");
            }
        }

        report.WriteLine($"{target.Name}: {files} files, {findings} with a finding");
        return findings;
    }
}
