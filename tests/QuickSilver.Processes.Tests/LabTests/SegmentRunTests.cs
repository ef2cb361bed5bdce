using QuickSilver.Processes.Tests.Lab;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.LabTests;

// A run of datagrams that one call handed to the kernel is, to the wire, just so many frames.
[Collection(nameof(Alone))]
public sealed class SegmentRunTests
{
    private const int Marker = int.MaxValue;

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_run_arrives_as_its_datagrams(bool switchTakesRuns)
    {
        using var rig = new LabRig(3, withRuns: switchTakesRuns);

        rig[1].SendRun(first: 0, count: 40, bytes: 1000, rig[1].GroupAddress);

        foreach (var node in new[] { 2, 3 })
        {
            Assert.Equal(Enumerable.Range(0, 40), Enumerable.Range(0, 40).Select(_ => rig[node].Receive(bytes: 1000)));
        }

        Assert.Equal(0, rig.Switch.Refused);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Each_datagram_of_a_run_has_its_own_fate(bool switchTakesRuns)
    {
        const int Runs = 50;
        const int PerRun = 40;
        using var rig = new LabRig(3, seed: 3, withRuns: switchTakesRuns);
        rig.Switch[1, 2] = new Impairment { LossPercent = 10 };

        for (var run = 0; run < Runs; run++)
        {
            rig[1].SendRun(run * PerRun, PerRun, bytes: 1000, rig[1].GroupAddress);
            rig.WaitForSwitch(1, (run + 1) * PerRun);
        }

        rig.Switch.SetAll(Impairment.None);
        rig[1].Send(Marker, rig[1].GroupAddress, bytes: 1000);
        var harmed = rig[2].ReceiveUntil(Marker, bytes: 1000);
        var unharmed = rig[3].ReceiveUntil(Marker, bytes: 1000);

        Assert.Equal(Enumerable.Range(0, Runs * PerRun), unharmed);
        Assert.Equal(harmed.Order(), harmed);
        Assert.InRange((Runs * PerRun) - harmed.Count, 200 - 81, 200 + 81);
        Assert.Equal((Runs * PerRun) - harmed.Count, rig.Switch.Counters(1, 2).Lost);
        Assert.True(harmed.GroupBy(n => n / PerRun).Count(g => g.Count() < PerRun) > Runs / 2, "whole runs were lost, not datagrams");
        Assert.Equal(0, rig.Switch.Refused);
    }

    [Fact]
    public void A_delayed_run_arrives_whole()
    {
        using var rig = new LabRig(2);
        rig.Switch[1, 2] = new Impairment { Delay = TimeSpan.FromMilliseconds(5), DuplicatePercent = 100 };

        rig[1].SendRun(first: 0, count: 20, bytes: 700, rig[1].GroupAddress);

        var received = Enumerable.Range(0, 40).Select(_ => rig[2].Receive(bytes: 700)).ToList();
        Assert.Equal(Enumerable.Range(0, 20).SelectMany(n => new[] { n, n }), received.Order());
        Assert.Equal(0, rig.Switch.Refused);
    }
}
