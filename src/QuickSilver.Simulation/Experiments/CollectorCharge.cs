namespace QuickSilver.Simulation.Experiments;

// Sets how dear everything is at one node by what it keeps alive, and adds up what that takes.
internal sealed class CollectorCharge(LoadPlan plan, SimulatedNode node)
{
    private double _share;
    private TimeSpan _spentBefore = Spent(node);
    private double _liveBytes;
    private int _samples;

    /// <summary>The time that the collector took so far.</summary>
    public double Seconds { get; private set; }

    public double MeanLiveBytes => _liveBytes / Math.Max(1, _samples);

    public void Charge(double packets, double packetBytes)
    {
        var spent = Spent(node);
        // A node that crashed has begun again.
        double passed = Math.Max(0, (spent - _spentBefore).TotalSeconds);
        _spentBefore = spent;
        Seconds += passed * _share / (1 + _share);
        var live = CollectorModel.Live(plan.Weight, plan.Topics, plan.Nodes, packets, packetBytes);
        _share = plan.Host.Collector.ShareOf(live);
        _liveBytes += live.Bytes;
        _samples++;
        node.Model = plan.Host.Of(node.Model, live);
    }

    public void Clear()
    {
        Seconds = _liveBytes = 0;
        _samples = 0;
        _spentBefore = Spent(node);
    }

    private static TimeSpan Spent(SimulatedNode node) => node.IsUp ? node.Life!.Environment.Spent : TimeSpan.Zero;
}
