namespace QuickSilver.Membership.Reachability;

// What a node found: which of the targets it was asked about answered its echoes (bit 0 is the first), and whether the service did.
internal readonly record struct Findings(ulong Reached, bool IsServiceReached)
{
    public bool Reaches(int target) => (Reached & (1UL << target)) != 0;
}
