using QuickSilver.Multicast.Channels;

namespace QuickSilver.Multicast.Receiving;

// Where the streams of one view ended whose senders are gone: the rest of a stream that was given up.
//
// All members hold what such a stream had. A member may still report more: it learnt later than the others that the sender was removed, or
// reports its results again because other members have left. Then the stream is resumed behind its end, as if it had never been given up,
// so nothing that was delivered is requested or delivered again, and the members still agree on what follows.
//
// Invariant: an end is remembered for MinAge at least. A stream does not end while there is no room for that.
internal sealed class EndedStreams(TimeSpan closingPause)
{
    /// <summary>The maximum number of ends.</summary>
    public const int Most = 4096;

    // Members that do not learn of a removal for so long are removed themselves.
    private const int PausesOfMinAge = 10;

    private readonly Dictionary<StreamKey, StreamEnd> _ends = [];
    private readonly Queue<(StreamKey Stream, TimeSpan At)> _byAge = new();

    public TimeSpan MinAge => closingPause * PausesOfMinAge;

    public int Count => _byAge.Count;

    /// <summary>Forgets the old ends. Returns whether there is room for another one.</summary>
    public bool HasRoom(TimeSpan now)
    {
        while (_byAge.TryPeek(out var oldest) && now - oldest.At >= MinAge)
        {
            _byAge.Dequeue();
            if (_ends.TryGetValue(oldest.Stream, out var end) && end.At == oldest.At)
            {
                _ends.Remove(oldest.Stream);
            }
        }

        return _byAge.Count < Most;
    }

    /// <summary>Adds an end, for which there is room.</summary>
    public void Add(StreamKey stream, in StreamEnd end)
    {
        _ends[stream] = end;
        _byAge.Enqueue((stream, end.At));
    }

    /// <summary>The stream is resumed: its end is removed.</summary>
    public bool TryTake(StreamKey stream, out StreamEnd end) => _ends.Remove(stream, out end);
}

/// <summary>The end of a stream.</summary>
/// <param name="Through">All packets up to here were held by all members, or lost, and none beyond was known.</param>
/// <param name="At">When the stream ended here.</param>
/// <param name="Decision">What the stability tracker keeps of it; null if it keeps nothing.</param>
internal readonly record struct StreamEnd(long Through, TimeSpan At, object? Decision);
