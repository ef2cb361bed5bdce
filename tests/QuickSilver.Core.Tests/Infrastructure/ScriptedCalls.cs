using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Datagrams;

namespace QuickSilver.Core.Tests.Infrastructure;

// A system that answers as the test says: outcomes of sends in turn (then Done), and datagrams or errors to receive.
internal sealed class ScriptedCalls : IDatagramCalls
{
    public const int RefusedError = 111;
    private int _segmentBytes;

    public Queue<CallOutcome> Outcomes { get; } = new();

    // Set: the answer depends on the segment size in force and the bytes.
    public Func<int, int, CallOutcome>? Answer { get; init; }

    public List<(int Bytes, int SegmentBytes)> Sent { get; } = [];

    public int SegmentChanges { get; private set; }

    // Null stands for a reported error.
    public Queue<byte[]?> Incoming { get; } = new();

    public CallOutcome Send(ReadOnlySpan<byte> bytes, DatagramAddress destination)
    {
        var outcome = Answer?.Invoke(_segmentBytes, bytes.Length) ?? (Outcomes.TryDequeue(out var next) ? next : CallOutcome.Done);
        if (outcome == CallOutcome.Done)
        {
            Sent.Add((bytes.Length, _segmentBytes));
        }

        return outcome;
    }

    public int Receive(Span<byte> into)
    {
        if (!Incoming.TryDequeue(out var datagram))
        {
            return IDatagramCalls.NothingWaits;
        }

        if (datagram is null)
        {
            return -RefusedError;
        }

        datagram.CopyTo(into);
        return datagram.Length;
    }

    public bool TrySetSegmentBytes(int segmentBytes)
    {
        _segmentBytes = segmentBytes;
        SegmentChanges++;
        return true;
    }
}
