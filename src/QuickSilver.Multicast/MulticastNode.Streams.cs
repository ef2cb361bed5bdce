using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Ordering;
using QuickSilver.Multicast.Receiving;

namespace QuickSilver.Multicast;

// What comes in the streams of the open views goes to the topics.
internal sealed partial class MulticastNode
{
    public void OnMessage(InboundStream stream, in StreamMessage message)
    {
        ulong topicId = message.Delivered.TopicId;
        if (message.StartTable.IsEmpty && StreamOrders.Of(stream)?.Find(topicId) is { } order
            && order.TryTake(message.Delivered, _context.Counters))
        {
            return;
        }

        if (topicId == MessageHeader.MarkTopic)
        {
            Topics.OnMark(stream, message);
        }
        else
        {
            _topics?.FindReceiver(topicId, stream.Class)?.OnMessage(stream, message);
        }
    }

    public void OnBeginning(InboundStream stream, ulong topicId, ReadOnlySpan<byte> starts) =>
        _topics?.FindReceiver(topicId, stream.Class)?.OnBeginning(stream, starts);

    public bool KnowsOlderBeginnings(InboundStream stream) => _open.KnowsOlderBeginnings(stream);

    public bool AwaitReadBefore(InboundStream stream) => _open.AwaitReadBefore(stream);

    public bool MayBringMoreBefore(InboundStream stream) => _open.MayBringMoreBefore(stream);

    public int LookAhead(InboundStream stream, ReadOnlySpan<byte> packets, int length) =>
        (_lookAhead ??= new LookAhead()).Into(stream, packets, length);

    public void OnLoss(InboundStream stream)
    {
        _uncertain ??= new UncertainLosses(_context.Environment, one => _open.IsAnyMissing(one.Sender), one => _topics?.OnLoss(one));
        _uncertain.Add(stream);
    }

    public void OnUnread(InboundStream stream) => (_heldUp ??= new HeldUpStreams(_context.Environment)).Add(stream);

    public void OnSenderGone(InboundStream stream) => _open.OnSenderGone();
}
