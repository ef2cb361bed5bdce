using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Multicast.Ordering.Holding;

// Decides when the messages of a topic may be passed to a subscription's sink: an order among several senders, or a wait for a state. The
// messages of one sender are always passed in the order of their numbers; while the next message of a sender waits, the later ones of the
// same sender wait too. Called on the core thread.
internal interface IDeliveryGate
{
    /// <summary>What the messages that wait are waiting for, as the end of a sentence.</summary>
    string WaitsFor { get; }

    /// <summary>
    /// Whether this message, the next of its sender, may be passed now. If not, it is asked about again after another message was passed or
    /// a gap was reported, after the news of what is stable, and after <see cref="HoldingSink.Pump"/>.
    /// </summary>
    bool MayPass(in DeliveredMessage message);

    /// <summary>
    /// Called when a message that arrived is held. It belongs to the view that began to arrive last, which may not have been passed yet.
    /// </summary>
    void OnHeld(in DeliveredMessage message)
    {
    }

    /// <summary>
    /// Called immediately before the message is passed. Messages that this node publishes in reply follow it in the order.
    /// </summary>
    void OnPassing(in DeliveredMessage message)
    {
    }

    /// <summary>Called when the sink had no room for the message, which is passed later.</summary>
    void OnRefused(in DeliveredMessage message)
    {
    }

    /// <summary>Called when these messages will not arrive.</summary>
    void OnGap(in TopicGap gap)
    {
    }

    /// <summary>
    /// For a pinned topic that asks for it: all members hold the messages of the sender up to this one, which have arrived here and may be
    /// held.
    /// </summary>
    void OnStable(NodeKey sender, long through)
    {
    }

    /// <summary>
    /// For a pinned topic: all messages of the view before this one have arrived. Those that wait are passed before the view is, so none
    /// may wait for a message that can come no more.
    /// </summary>
    void OnViewEnding(MemberView next)
    {
    }

    /// <summary>
    /// For a pinned topic: all messages from now on were sent in this view, and no message of the view before it is left.
    /// </summary>
    void OnView(MemberView view)
    {
    }
}
