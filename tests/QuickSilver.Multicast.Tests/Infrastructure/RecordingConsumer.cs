using QuickSilver.Multicast.Receiving;

namespace QuickSilver.Multicast.Tests.Infrastructure;

// What stands above the streams: takes every message, or while it holds, none.
internal sealed class RecordingConsumer : IStreamConsumer
{
    private readonly List<(ConsumedStream Stream, long Packet)> _held = [];

    public bool IsHolding { get; set; }

    /// <summary>The packets in which the messages that came ended, in the order of their coming.</summary>
    public List<long> Messages { get; } = [];

    public int Losses { get; private set; }

    public void OnMessage(ConsumedStream stream, in StreamMessage message)
    {
        Messages.Add(message.EndPacket);
        if (IsHolding)
        {
            stream.Hold(message.EndPacket);
            _held.Add((stream, message.EndPacket));
        }
    }

    public void OnBeginning(ConsumedStream stream, ulong topicId, ReadOnlySpan<byte> starts)
    {
    }

    public bool KnowsOlderBeginnings(ConsumedStream stream) => true;

    public void OnLoss(ConsumedStream stream) => Losses++;

    public void OnUnread(ConsumedStream stream)
    {
    }

    /// <summary>Takes all that it has held.</summary>
    public void TakeHeld()
    {
        IsHolding = false;
        foreach (var (stream, packet) in _held)
        {
            stream.Unhold(packet);
            stream.ReadOn();
        }

        _held.Clear();
    }
}
