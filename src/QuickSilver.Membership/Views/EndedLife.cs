namespace QuickSilver.Membership.Views;

// A life of a node that a service has removed permanently, and the configuration that said so. All members keep the newest of them, and
// report them to the next service: it refuses such a life as the earlier one did (I10).
//
// Origin: where the node came from when it was admitted. A node that has not received the configuration that admitted it comes back with
// this origin.
internal readonly record struct EndedLife(NodeKey Node, ulong Service, long Number, Origin Origin = default)
{
    /// <summary>So many are kept by each member, and reported: a node that was removed before all of them is not known any more.</summary>
    public const int Most = 1024;

    /// <summary>
    /// Whether a node with this key that returns from there is as it was when it was removed. If it has a later configuration of the same
    /// service, or one of another service, it was taken back since.
    /// </summary>
    public bool Ends(Origin from) => from.Service == Service ? from.Configuration < Number : from == Origin;
}
