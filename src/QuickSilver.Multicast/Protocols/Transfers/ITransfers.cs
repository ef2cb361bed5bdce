using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Protocols.Transfers;

// What one node takes of another in bulk: a log from a position on, or the content of a state. The taker pulls, a donor gives in chunks,
// and the taker confirms what it has taken. A donor has at most a few chunks on their way, gives to a few nodes at once, and does not wait
// for a taker that is silent. A taker asks the next donor from where it is. Core thread only.
internal interface ITransfers
{
    /// <summary>The maximum size of a subject in bytes.</summary>
    const int MostSubjectBytes = 1024;

    /// <summary>The letters of other nodes that were dropped because they are malformed.</summary>
    long Malformed { get; }

    /// <summary>
    /// Begins to take. A node takes a few things at once, and the others wait in the order of the calls. A transfer ends when all is taken,
    /// when it is cancelled, and with the node; until then the node reports it as waiting when it makes no progress.
    /// </summary>
    /// <param name="subject">What to take, as the donor understands it: at most <see cref="MostSubjectBytes"/>.</param>
    /// <param name="from">The position from which to take. What a position is, the protocol decides; it is not negative.</param>
    /// <param name="what">What is taken, for people, such as <c>the log of topic "orders"</c>.</param>
    /// <param name="taker">Called with what comes.</param>
    /// <exception cref="ArgumentException">The subject is too large, or the position is negative.</exception>
    /// <exception cref="InvalidOperationException">The transfers have ended.</exception>
    ITransfer Take(ReadOnlySpan<byte> subject, long from, string what, ITransferTaker taker);

    /// <summary>Ends all transfers.</summary>
    void Close();
}

// A transfer that this node takes. Core thread only.
internal interface ITransfer
{
    /// <summary>The position behind the last chunk that was taken.</summary>
    long Through { get; }

    /// <summary>The donor that is asked, or gives; null while there is none.</summary>
    NodeKey? Donor { get; }

    /// <summary>The taker has room again, after it answered a chunk with <see cref="TransferStep.Wait"/>.</summary>
    void Continue();

    /// <summary>Ends the transfer. The taker is not called any more.</summary>
    void Cancel();
}

// What a taker does with a chunk.
internal enum TransferStep
{
    /// <summary>It is taken, and more may come.</summary>
    Take,

    /// <summary>
    /// It is taken. More is asked for when the taker calls <see cref="ITransfer.Continue"/>. A few chunks may be on their way.
    /// </summary>
    Wait,

    /// <summary>It is not taken: it cannot be true. The next donor is asked, from the position before it.</summary>
    Refuse,
}

// Why a donor gave no more.
internal enum TransferFailure
{
    /// <summary>It gives to too many other nodes.</summary>
    Busy,

    /// <summary>It does not have what was asked for, or not from this position on.</summary>
    Absent,

    /// <summary>It could not read what it has.</summary>
    Unreadable,

    /// <summary>It gave nothing for 3 s.</summary>
    Silent,

    /// <summary>It is no member any more, or letters do not reach it.</summary>
    Gone,

    /// <summary>The taker refused a chunk, or what it gave does not fit together.</summary>
    Refused,
}

// Takes what donors give. Called on the core thread.
internal interface ITransferTaker
{
    /// <summary>
    /// Adds the nodes that may have it, those first that should be asked first. Called before the first donor is asked, and again after
    /// each of them was. There may be none.
    /// </summary>
    void AddDonors(List<NodeKey> donors);

    /// <summary>A chunk came. It is valid during the call and is not trusted, except that positions ascend.</summary>
    /// <param name="donor">The node that gave it.</param>
    /// <param name="chunk">At least one byte.</param>
    /// <param name="through">The position behind it.</param>
    TransferStep OnChunk(NodeKey donor, ReadOnlySpan<byte> chunk, long through);

    /// <summary>The donor has given all that it has.</summary>
    void OnEnd(NodeKey donor);

    /// <summary>A donor gave no more. The next one is asked, or the same one again after a pause.</summary>
    void OnFailed(NodeKey donor, TransferFailure failure)
    {
    }

    /// <summary>
    /// Nothing can be taken any more: the node ends, or its inbox could not be opened. Not called after the end or a cancellation.
    /// </summary>
    void OnLettersEnded(Exception reason)
    {
    }
}
