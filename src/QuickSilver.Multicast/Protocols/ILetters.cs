using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Protocols;

// What a protocol sends to one node alone. Letters from one node to another are delivered once and in order, but for those that are
// reported to the sender as undelivered. A letter that was sent and not reported may still be lost with either node. Core thread only.
internal interface ILetters
{
    /// <summary>The maximum size of a letter in bytes.</summary>
    int MostBytes { get; }

    /// <summary>
    /// Sends a letter, which is copied. False: this node has too much to send. The reader is notified when it has room.
    /// </summary>
    /// <exception cref="ArgumentException">The letter is larger than <see cref="MostBytes"/>.</exception>
    bool TrySend(NodeKey to, ReadOnlySpan<byte> letter);

    /// <summary>The reader gets no more letters.</summary>
    void Close();
}

// Called on the core thread, except OnEnded of a node whose core thread has ended.
internal interface ILetterReader
{
    /// <summary>
    /// A letter came. It is valid during the call, and is not trusted: any member of the cluster can send one. The call must not wait.
    /// </summary>
    void OnLetter(NodeKey sender, ReadOnlySpan<byte> letter);

    /// <summary>
    /// A letter to this node was dropped: the node is no member, does not use the protocol, did not answer for 5 s, or too many letters
    /// waited for it.
    /// </summary>
    void OnUndelivered(NodeKey to)
    {
    }

    /// <summary>Letters can be sent again, after <see cref="ILetters.TrySend"/> had no room.</summary>
    void OnRoom()
    {
    }

    /// <summary>No letter comes any more: the node ends, or its inbox could not be opened.</summary>
    void OnEnded(Exception reason)
    {
    }
}
