using QuickSilver.Core.Buffers;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Dissemination;

namespace QuickSilver.Multicast.Ordering;

// A message that waits for an earlier one, or for room above; its bytes stay in the packet that its stream keeps.
internal readonly struct HeldMessage(InboundStream stream, long packet, Lease? lease, int offset, int length, Assembly? assembly)
{
    public InboundStream Stream { get; } = stream;
    public long Packet { get; } = packet;
    public ReadOnlySpan<byte> Payload => assembly is null ? lease!.Span.Slice(offset, length) : assembly.Payload;

    public void Release()
    {
        assembly?.Release();
        Stream.Unhold(Packet);
    }
}

// One sender's run in one topic at one subscriber. Next is 0 until it is known where the run begins.
internal sealed class SenderOrder(NodeKey sender)
{
    private readonly Dictionary<long, HeldMessage> _held = [];

    public NodeKey Sender { get; } = sender;
    public long Next { get; set; }
    // The configuration that made the sender a member, as it was when the run began.
    public long BegunAt { get; set; }
    // The sink said no; nothing is offered until it resumes.
    public bool IsBlocked { get; set; }
    public int HeldCount => _held.Count;

    public bool Hold(InboundStream stream, in StreamMessage message)
    {
        if (_held.ContainsKey(message.Sequence))
        {
            return false;
        }

        if (message.Assembly is not null)
        {
            message.Assembly.IsKept = true;
        }

        stream.Hold(message.EndPacket);
        var held = new HeldMessage(
            stream, message.EndPacket, message.Lease, message.LeaseOffset, message.Payload.Length, message.Assembly);
        _held.Add(message.Sequence, held);
        return true;
    }

    public bool TryPeekHeld(long sequence, out HeldMessage held) => _held.TryGetValue(sequence, out held);

    public void RemoveHeld(long sequence)
    {
        if (_held.Remove(sequence, out var held))
        {
            held.Release();
        }
    }

    public bool TryFirstHeld(out long first)
    {
        first = long.MaxValue;
        foreach (long sequence in _held.Keys)
        {
            first = Math.Min(first, sequence);
        }

        return _held.Count > 0;
    }

    public void DropBefore(long sequence)
    {
        if (_held.Count == 0)
        {
            return;
        }

        var old = new List<long>();
        foreach (long held in _held.Keys)
        {
            if (held < sequence)
            {
                old.Add(held);
            }
        }

        old.Sort();
        foreach (long held in old)
        {
            RemoveHeld(held);
        }
    }

    public void DropAll() => DropBefore(long.MaxValue);
}
