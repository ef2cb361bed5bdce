namespace QuickSilver;

/// <summary>A range of a sender's messages that cannot be delivered to this endpoint.</summary>
/// <param name="Sender">The sender of the messages.</param>
/// <param name="First">The first missing number.</param>
/// <param name="Last">The last missing number.</param>
/// <param name="Reason">The reason: the sender failed, the reader was slow, or the guarantee allows the loss.</param>
public readonly record struct GapNotice(NodeId Sender, long First, long Last, string Reason)
{
    /// <summary>The number of missing messages.</summary>
    public long Count => Last - First + 1;
}
