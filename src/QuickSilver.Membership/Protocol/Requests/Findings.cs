namespace QuickSilver.Membership.Protocol.Requests;

// The result of an inquiry at a node: which of the targets answered its echoes, and whether the service did. A node on the machine of the
// service has not tried the service, because that would show nothing of the network.
internal readonly record struct Findings(EchoesAnswered Targets, bool IsServiceReached, bool IsBesideService = false)
{
    public bool Reaches(int target) => (Targets.Any & (1UL << target)) != 0;

    public bool ReachesAtOnce(int target) => (Targets.First & (1UL << target)) != 0;
}
