namespace QuickSilver.Membership.Views;

// A view that was superseded, as far as its sender can know, and in which something that it sent is not known to be held by all members.
// It stays open where it is named, and holds up no other view.
internal readonly record struct OpenView(ulong Region, uint Number)
{
    /// <summary>As many as one node names. With more, the node confirms a lower number.</summary>
    public const int MostPerNode = 64;

    /// <summary>As many as the service announces to all. With more, the number that is settled waits.</summary>
    public const int MostReported = 4096;
}
