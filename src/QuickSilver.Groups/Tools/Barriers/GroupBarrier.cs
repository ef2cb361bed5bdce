using QuickSilver.Groups.Tools.Replicas;

namespace QuickSilver.Groups.Tools.Barriers;

// A barrier at one member.
internal sealed class GroupBarrier(string name, int parties, NodeId self, IToolHost host)
    : GroupTool<BarrierMachine>(name, self, new BarrierMachine(), host), IGroupBarrier
{
    public int Parties => parties;

    public int Arrived => Read(static state => state.Arrived);

    public async ValueTask<long> ArriveAsync(CancellationToken cancellationToken = default)
    {
        byte[] message = BarrierMachine.ArriveOf(parties);
        var outcome = await Replica.AskAsync(message, GroupOrder.Safe, waitsForPlace: false, Withdraw, cancellationToken)
            .ConfigureAwait(Host.ResumesInContext);
        return outcome.Value switch
        {
            BarrierMachine.HasArrived => throw new InvalidOperationException(
                $"This member has arrived at the barrier \"{Name}\" in this round already. Wait for that call, or cancel it."),
            BarrierMachine.IsOfOtherParties => throw new InvalidOperationException(
                $"This member waits for {parties} parties at the barrier \"{Name}\", and others have arrived that wait for "
                + $"{outcome.Extra}. Open it with the same number at all members."),
            var round => round,
        };
    }

    public override void OnChanged()
    {
    }

    public override void OnReplaced()
    {
    }

    public override void OnEnded(Exception reason)
    {
    }

    private void Withdraw(long number) => Replica.Post(BarrierMachine.WithdrawOf(number), GroupOrder.Safe);
}
