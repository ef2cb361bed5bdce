using QuickSilver.Fuzz;
using QuickSilver.Membership.Views;
using SharpFuzz;

const string Usage = """
    QuickSilver.Fuzz TARGET             runs a target under afl-fuzz
    QuickSilver.Fuzz --list             prints the targets
    QuickSilver.Fuzz --replay TARGET PATH…   runs files, or all files of folders, and prints what is thrown
    QuickSilver.Fuzz --seeds FOLDER     writes the valid inputs of each target to its folder in this one
    """;

switch (args)
{
    case ["--list"]:
        foreach (var target in FuzzTargets.All)
        {
            Console.WriteLine(target.Name);
        }

        return 0;
    case ["--seeds", var folder]:
        Corpus.WriteSeeds(folder);
        return 0;
    case ["--replay", var name, .. var paths] when FuzzTargets.Find(name) is { } replayed:
        return Corpus.Replay(replayed, paths, Console.Out) == 0 ? 0 : 1;
    case [var name] when !name.StartsWith('-'):
        Fuzz(name);
        return 0;
    default:
        Console.Error.WriteLine(Usage);
        return 2;
}

// No instrumented code may run before the fuzzer has made the memory that it writes to, so even the targets are made within.
static void Fuzz(string name)
{
    FuzzTarget? target = null;
    byte[] buffer = new byte[FuzzRun.MostBytes];
    Fuzzer.Run(stream =>
    {
        // Some inputs, such as an empty one, reach nothing that is instrumented: afl-fuzz would give up a target whose first one is so.
        _ = TopicId.Of(name);
        target ??= FuzzTargets.Find(name) ?? throw new ArgumentException($"There is no target '{name}'.");
        int length = stream.ReadAtLeast(buffer, buffer.Length, throwOnEndOfStream: false);
        FuzzRun.Execute(target, buffer.AsSpan(0, length));
    });
}
