namespace QuickSilver.Membership.Snapshots;

// How a node stands with the state that the members of a topic share.
internal enum StateStanding
{
    // The members share none.
    None = 0,
    Held = 1,
    // It waits for the state of another member.
    Sought = 2,
}
