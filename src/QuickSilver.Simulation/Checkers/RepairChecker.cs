namespace QuickSilver.Simulation.Checkers;

// I18: requests for repair, and packets sent again, are at most a small multiple of what was lost or held back, and of a
// constant for what no loss explains: a peer that pauses, a member that knows a view later than the sender.
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
            string losses = $"{totals.Disturbances} datagrams lost, held back or untrue";
            Violate(totals.At, $"There were {count} {what} for {losses}; {bound:F0} are the bound.");
        }
    }
}
