using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Checkers;

// I18: the number of repair requests, and of packets sent again, is at most a small multiple of the packets that were lost or delayed, plus
// a constant for causes other than loss: a peer that pauses, a member that learns of a view later than the sender.
internal sealed class RepairChecker : HistoryChecker
{
    public override string Invariant => "I18";

    public double MostPerDisturbance { get; init; } = 3;

    public long Allowance { get; init; } = 1000;

    public override void On(in RepairTotals totals)
    {
        double bound = (MostPerDisturbance * totals.Disturbances) + Allowance;
        Judge(totals, totals.Requests, "requests for repair", bound);
        Judge(totals, totals.Retransmissions, "packets sent again", bound);
    }

    private void Judge(in RepairTotals totals, long count, string what, double bound)
    {
        if (count > bound)
        {
            string losses = $"{totals.Disturbances} datagrams lost, delayed or forged";
            Violate(totals.At, $"There were {count} {what} for {losses}; the bound is {bound:F0}.");
        }
    }
}
