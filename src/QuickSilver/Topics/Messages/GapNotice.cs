namespace QuickSilver;

/// <summary>A range of a sender's messages that cannot be delivered to this endpoint.</summary>
/// <param name="Sender">The sender of the messages.</param>
/// <param name="First">The first missing number.</param>
/// <param name="Last">The last missing number.</param>
/// <param name="Reason">Why they cannot be delivered.</param>
public readonly record struct GapNotice(NodeId Sender, long First, long Last, GapReason Reason)
{
    /// <summary>The number of missing messages.</summary>
    public long Count => Last - First + 1;

    /// <summary>The range and its reason, in words.</summary>
    public override string ToString() => First == Last
        ? $"message {First} of {Sender}: {Reason.InWords()}"
        : $"messages {First} to {Last} of {Sender}: {Reason.InWords()}";
}
