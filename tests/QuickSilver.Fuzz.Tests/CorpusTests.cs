using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Fuzz.Tests;

// The inputs that are kept: valid ones, from which the fuzzer begins, and those that once were a finding.
public sealed class CorpusTests
{
    public static TheoryData<string> Targets => [.. FuzzTargets.All.Select(static target => target.Name)];

    [Theory]
    [MemberData(nameof(Targets))]
    public void No_input_of_the_corpus_is_a_finding(string name)
    {
        using var report = new StringWriter();
        Assert.True(Corpus.Replay(FuzzTargets.Find(name)!, [FolderOf(name)], report) == 0, report.ToString());
    }

    // Otherwise the fuzzer would begin with packets of an older version, and get no further than its number.
    [Theory]
    [MemberData(nameof(Targets))]
    public void The_corpus_has_what_the_library_writes_now(string name)
    {
        var seeds = FuzzTargets.Find(name)!.Seeds().ToArray();
        Assert.NotEmpty(seeds);
        Assert.Equal(seeds.Length, seeds.DistinctBy(static seed => seed.Name).Count());
        Assert.All(seeds, seed => Assert.True(
            File.Exists(FileOf(name, seed)) && File.ReadAllBytes(FileOf(name, seed)).AsSpan().SequenceEqual(seed.Bytes),
            $"{FileOf(name, seed)} is not what is written now. To write the corpus again, run QuickSilver.Fuzz --seeds {Root}"));
    }

    [Fact]
    public void Each_folder_of_the_corpus_is_of_a_target() => Assert.Equal(
        FuzzTargets.All.Select(static target => target.Name).Order(),
        Directory.EnumerateDirectories(Root).Select(static folder => Path.GetFileName(folder)).Order());

    [Fact]
    public void An_exception_and_an_excessive_allocation_are_findings()
    {
        Assert.Throws<FormatException>(() => FuzzRun.Execute(new Bad(), [1]));
        var finding = Assert.Throws<FindingException>(() => FuzzRun.Execute(new Bad(), [2]));
        Assert.Contains("allocate", finding.Message);
        FuzzRun.Execute(new Bad(), [3]);
    }

    private static string Root => field ??= Path.Combine(RepositoryRoot.Path, "tests", "QuickSilver.Fuzz", "Corpus");

    private static string FolderOf(string target) => Path.Combine(Root, target);

    private static string FileOf(string target, Seed seed) => Path.Combine(FolderOf(target), $"{seed.Name}.bin");

    private sealed class Bad : FuzzTarget
    {
        public override string Name => "bad";

        public override IReadOnlyList<Type> Decoders => [];

        public override IEnumerable<Seed> Seeds() => [];

        public override void Run(ReadOnlySpan<byte> input)
        {
            if (input[0] == 1)
            {
                throw new FormatException();
            }

            GC.KeepAlive(input[0] == 2 ? new byte[1 << 20] : null);
        }
    }
}
