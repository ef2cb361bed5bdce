namespace QuickSilver.Multicast.Channels;

// Where a subscription's messages go, and what happens in between. Core thread; must not block.
internal interface IDeliverySink
{
    /// <summary>
    /// False: no room. The message stays below, unacknowledged, and comes again after <see cref="ITopicReceiver.Resume"/>.
    /// </summary>
    bool TryAccept(in DeliveredMessage message);

    /// <summary>Who may be given the messages straight, with nothing between; null: nobody, or not now.</summary>
    IDirectSink? Direct => null;

    void OnGap(in TopicGap gap);

    /// <summary>
    /// Of a pinned topic: all that this member gets of the view before came before this call, and what was sent in this view comes
    /// after it.
    /// </summary>
    void OnView(MemberView view)
    {
    }

    /// <summary>
    /// Of a pinned topic, for each view but the first: the view is decided, and nothing more is sent in the one before it. Messages of
    /// that one may still come, then <see cref="OnView"/>. Until the barrier is released no publisher of the topic on this node takes
    /// a message.
    /// </summary>
    void OnFlush(IFlushBarrier barrier) => barrier.Release();
}

// The one consumer of a subscription, while it is the only one and nothing is owed to it. Core thread; throws nothing.
internal interface IDirectSink
{
    /// <summary>False: it is not that one any more. The message goes to the sink.</summary>
    bool TryTake(in DeliveredMessage message);

    /// <summary>Reads what <see cref="TryTake"/> will, so that it is in the cache then; gives something of it.</summary>
    int Touch();
}
