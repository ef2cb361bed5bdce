namespace QuickSilver.Membership.Protocol.Requests;

// What a node found: which of the targets it was asked about answered its echoes, and whether the service did. A node on the machine of the
// service has not tried that, as it would tell nothing of the network.
internal readonly record struct Findings(EchoesAnswered Targets, bool IsServiceReached, bool IsBesideService = false)
{
    public bool Reaches(int target) => (Targets.Any & (1UL << target)) != 0;

    public bool ReachesAtOnce(int target) => (Targets.First & (1UL << target)) != 0;
}
