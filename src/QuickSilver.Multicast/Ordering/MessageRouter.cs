using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Receiving;

namespace QuickSilver.Multicast.Ordering;

// What comes in the streams of the open views goes to the topics.
internal sealed class MessageRouter(IOrderingNode node, OpenViews views) : IStreamConsumer
{
    // Read with each message.
    private readonly NodeContext _context = node.Context;
    private LookAhead? _lookAhead;
    private UncertainLosses? _uncertain;
    private HeldUpStreams? _heldUp;

    public OpenTopics Topics => TopicsIfAny ??= new OpenTopics(node);

    /// <summary>Null until a topic is opened.</summary>
    public OpenTopics? TopicsIfAny { get; private set; }

    public void OnMessage(ConsumedStream stream, in StreamMessage message)
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
            TopicsIfAny?.FindReceiver(topicId, stream.Class)?.OnMessage(stream, message);
        }
    }

    public void OnBeginning(ConsumedStream stream, ulong topicId, ReadOnlySpan<byte> starts) =>
        TopicsIfAny?.FindReceiver(topicId, stream.Class)?.OnBeginning(stream, starts);

    public bool KnowsOlderBeginnings(ConsumedStream stream) => views.KnowsOlderBeginnings(stream);

    public int LookAhead(ConsumedStream stream, ReadOnlySpan<byte> packets, int length) =>
        (_lookAhead ??= new LookAhead()).Into(stream, packets, length);

    public void OnLoss(ConsumedStream stream)
    {
        _uncertain ??= new UncertainLosses(
            _context.Environment, one => views.IsAnyMissing(one.Sender), one => TopicsIfAny?.OnLoss(one));
        _uncertain.Add(stream);
    }

    public void OnStable(ConsumedStream stream) => TopicsIfAny?.OnStable(stream);

    public void OnUnread(ConsumedStream stream) => (_heldUp ??= new HeldUpStreams(_context.Environment)).Add(stream);

    public void OnSenderGone(ConsumedStream stream) => views.OnSenderGone();

    public void Close()
    {
        _uncertain?.Close();
        _heldUp?.Close();
        TopicsIfAny?.CloseLeft();
    }
}
