using QuickSilver.Membership.Views;

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

    // For display, so it is no part of what is compared. Null until the notice is handed to the application, or made by one.
    internal string? SenderName { get; init; }

    /// <summary>Whether both are of the same range of the same sender, for the same reason.</summary>
    public bool Equals(GapNotice other) =>
        Sender == other.Sender && First == other.First && Last == other.Last && Reason == other.Reason;

    /// <inheritdoc/>
    public override int GetHashCode() => HashCode.Combine(Sender, First, Last, Reason);

    /// <summary>The range, the name and the id of the sender, and the reason, in words.</summary>
    public override string ToString() => First == Last
        ? $"message {First} of {Sender.InWords(SenderName)}: {Reason.InWords()}"
        : $"messages {First} to {Last} of {Sender.InWords(SenderName)}: {Reason.InWords()}";

    /// <summary>As the application gets it.</summary>
    internal GapNotice Named(INodeNames names) => this with { SenderName = names.Named(Sender).Name };
}
