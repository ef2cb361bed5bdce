namespace QuickSilver.Membership.Regions;

// What one node has to do with another in the regions of which the other is a member.
internal enum RegionTie
{
    None = 0,

    // It sees a region of the other without being a member: it may send there, and waits for acknowledgements.
    Sender,

    // It is a member of a region of the other: the two may be neighbours in a ring.
    Neighbour,
}
