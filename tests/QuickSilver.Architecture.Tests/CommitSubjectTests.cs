using System.Diagnostics;
using QuickSilver.Architecture.Tests.Reading;

namespace QuickSilver.Architecture.Tests;

// Subjects of commits are read in lists.
public sealed class CommitSubjectTests
{
    private const int MaxSubjectLength = 72;

    // The newest commit that is older than this rule.
    private const string Before = "688357fdd54a785babda3dbe58dd37e422607c6c";

    [Fact]
    public void Subjects_of_commits_are_at_most_72_characters()
    {
        string? subjects = Git("log", "--no-merges", "--format=%h %s", $"{Before}..HEAD");
        Assert.SkipWhen(subjects is null, $"There is no git, or no history that reaches back to {Before}.");

        Violations.AssertNone(
            from commit in subjects.Split('\n', StringSplitOptions.RemoveEmptyEntries)
            let subject = commit[(commit.IndexOf(' ', StringComparison.Ordinal) + 1)..]
            where subject.Length > MaxSubjectLength
            select $"{commit} has {subject.Length}");
    }

    // Null if git fails.
    private static string? Git(params string[] arguments)
    {
        var start = new ProcessStartInfo("git", arguments)
        {
            WorkingDirectory = Repository.Root,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        try
        {
            using var git = Process.Start(start)!;
            git.ErrorDataReceived += static (_, _) => { };
            git.BeginErrorReadLine();
            string output = git.StandardOutput.ReadToEnd();
            git.WaitForExit();
            return git.ExitCode == 0 ? output : null;
        }
        catch (System.ComponentModel.Win32Exception)
        {
            return null;
        }
    }
}
