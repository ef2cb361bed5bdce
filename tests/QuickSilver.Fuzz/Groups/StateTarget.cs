using QuickSilver.Groups.States;

namespace QuickSilver.Fuzz.Groups;

// What members of a group send to each other about its state: what is asked for, and the chunks in which it is given. What was read is
// written and read again.
internal sealed class StateTarget : FuzzTarget
{
    public override string Name => "groupstates";

    public override IReadOnlyList<Type> Decoders { get; } = [typeof(StateChunk)];

    public override IEnumerable<Seed> Seeds()
    {
        var place = StatePlace.At(7);
        yield return new("begin", Begin(place, 0));
        place.Pass(new NodeId(1, 1), 12);
        place.Pass(new NodeId(2, 9), long.MaxValue);
        yield return new("senders", Begin(place, 64 << 20));
        byte[] none = new byte[StateChunk.NoneBytes];
        StateChunk.WriteNone(none, 7);
        yield return new("none", none);
        byte[] tooLarge = new byte[StateChunk.TooLargeBytes];
        StateChunk.WriteTooLarge(tooLarge, 5_000, 4_096);
        yield return new("toolarge", tooLarge);
        yield return new("wait", [(byte)StateChunkKind.Wait]);
        yield return new("bytes", [(byte)StateChunkKind.Bytes, 1, 2, 3]);
        yield return new("subject", StateChunk.Subject(3, 7));
    }

    public override void Run(ReadOnlySpan<byte> input)
    {
        if (StateChunk.TryReadSubject(input, out ulong topic, out long view))
        {
            Same(input, StateChunk.Subject(topic, view));
        }

        switch (StateChunk.KindOf(input))
        {
            case StateChunkKind.Begin when StateChunk.TryReadBegin(input, out var place, out long size):
                byte[] begin = Begin(place, size);
                FindingException.ThrowUnless(
                    StateChunk.TryReadBegin(begin, out var again, out long sizeAgain) && sizeAgain == size && again.View == place.View
                    && again.Covers(place) && place.Covers(again),
                    "What was read and written is read differently.");
                break;
            case StateChunkKind.None when StateChunk.TryReadNone(input, out long without):
                byte[] none = new byte[StateChunk.NoneBytes];
                StateChunk.WriteNone(none, without);
                Same(input, none);
                break;
            case StateChunkKind.TooLarge when StateChunk.TryReadTooLarge(input, out long bytes, out long limit):
                byte[] tooLarge = new byte[StateChunk.TooLargeBytes];
                StateChunk.WriteTooLarge(tooLarge, bytes, limit);
                Same(input, tooLarge);
                break;
        }
    }

    private static byte[] Begin(StatePlace place, long size)
    {
        byte[] chunk = new byte[StateChunk.SizeOfBegin(place)];
        StateChunk.WriteBegin(chunk, place, size);
        return chunk;
    }

    private static void Same(ReadOnlySpan<byte> input, byte[] written) =>
        FindingException.ThrowUnless(input.SequenceEqual(written), "What was read is written differently.");
}
