using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Protocols.Transfers;

// What a protocol gives to other nodes in bulk. Called on the core thread.
internal interface ITransferSource
{
    /// <summary>
    /// Opens what a node asks for; null if this node does not have it, or not from this position on. The subject is valid during the call.
    /// Neither it nor the position is trusted, except that the position is not negative: any member of the cluster can ask.
    /// </summary>
    ITransferContent? Open(NodeKey taker, ReadOnlySpan<byte> subject, long from);
}

// The content for one taker, read from front to back. Called on the core thread. Disposed when it was given, and when the taker does not
// take it any more, also while a read has not completed.
internal interface ITransferContent : IDisposable
{
    /// <summary>
    /// Reads the next chunk into the buffer. Not called again before it has completed. What it throws is logged, and the taker asks another
    /// node.
    /// </summary>
    ValueTask<TransferChunk> ReadAsync(Memory<byte> buffer);
}

// What was read: so many bytes, and the position behind them. No bytes: that was all.
internal readonly record struct TransferChunk(int Bytes, long Through);
