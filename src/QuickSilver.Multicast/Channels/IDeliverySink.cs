using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Channels;

// Receives a subscription's messages, gaps and views. Called on the core thread; must not block.
internal interface IDeliverySink
{
    /// <summary>
    /// Offers a message. False: the sink has no room. The message then stays unconsumed in the multicast layer, and is offered again after
    /// <see cref="ITopicReceiver.Resume"/>.
    /// </summary>
    bool TryAccept(in DeliveredMessage message);

    /// <summary>
    /// Why the sink has no room, as a sentence without its stop, if it is not that a reader is slow; null otherwise.
    /// </summary>
    string? WhyFull => null;

    /// <summary>The consumer that may get the messages directly, without this sink; null if there is none at present.</summary>
    IDirectSink? Direct => null;

    void OnGap(in TopicGap gap);

    /// <summary>
    /// Whether the sink has room for another view. If not, the view waits, with all that was sent in it, until
    /// <see cref="ITopicReceiver.Resume"/>.
    /// </summary>
    bool HasRoomForView => true;

    /// <summary>
    /// For a pinned topic: all messages that this member gets of the view before came before this call, and the messages of this view come
    /// after it.
    /// </summary>
    void OnView(MemberView view)
    {
    }

    /// <summary>
    /// Like <see cref="OnView"/>, for a sink to which a protocol passes views itself. False: the sink has no room. The view is then offered
    /// again after <see cref="ITopicReceiver.Resume"/>.
    /// </summary>
    bool TryAcceptView(MemberView view)
    {
        OnView(view);
        return true;
    }

    /// <summary>
    /// For a pinned topic whose channel asks for it: all members of the view hold the messages of the sender up to this number, so those
    /// that are left of the view deliver them, whatever fails. They came before this call. The numbers of a sender increase. Before each
    /// view except the first, it is called for all messages that came.
    /// </summary>
    void OnStable(NodeKey sender, long through)
    {
    }

    /// <summary>
    /// For a pinned topic, called for each view except the first: the view is decided, and nothing more is sent in the view before it.
    /// Messages of that view may still arrive, followed by <see cref="OnView"/>. Until the barrier is released, no publisher of the topic
    /// on this node takes a message.
    /// </summary>
    void OnFlush(IFlushBarrier barrier) => barrier.Release();
}

// The consumer of a subscription, while it is the only one and no earlier message or gap waits to be passed to it. Called on the core
// thread; throws no exception.
internal interface IDirectSink
{
    /// <summary>Passes a message to the consumer. False: it may no longer be used directly, and the message goes to the sink.</summary>
    bool TryTake(in DeliveredMessage message);

    /// <summary>Reads the data that <see cref="TryTake"/> will read, to bring it into the cache; returns a value derived from it.</summary>
    int Touch();
}
