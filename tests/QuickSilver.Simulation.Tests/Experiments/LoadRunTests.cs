using QuickSilver.Simulation.Experiments;

namespace QuickSilver.Simulation.Tests.Experiments;

// The papers' experiments at a small size: what they measure is what the machines allow, and one seed gives one run.
public sealed class LoadRunTests
{
    private const int MessageBytes = 1000;

    private static LoadPlan Small => new() { Nodes = 4, Duration = TimeSpan.FromSeconds(1), MessageBytes = MessageBytes };

    [Fact]
    public void One_seed_gives_one_run_and_another_seed_another()
    {
        var plan = Small with { Nodes = 3, Faults = new LoadFaults { Loss = 0.01 } };

        Assert.Equal(LoadRun.Measure(plan), LoadRun.Measure(plan));
        Assert.NotEqual(LoadRun.Measure(plan).TraceHash, LoadRun.Measure(plan with { Seed = 2 }).TraceHash);
    }

    [Fact]
    public void A_sender_at_full_speed_is_held_by_its_network_card_and_loses_nothing()
    {
        var figures = LoadRun.Measure(Small);

        double most = (double)HostModel.Papers.DatagramBytesPerSecond / MessageBytes;
        Assert.InRange(figures.MessagesPerSecond, most / 2, most);
        Assert.Equal((0, 0), (figures.Gaps, figures.Missing));
        Assert.True(figures.TokenRoundTripMillis > 0);
        Assert.True(figures.PendingAcks > 0);
        Assert.InRange(figures.ReceiverBusyShare, 0.3, 1);
    }

    [Theory]
    [InlineData(true, false, 0)]
    [InlineData(false, true, 0)]
    [InlineData(false, false, 0.02)]
    public void Data_lost_or_delayed_by_a_fault_arrives_eventually(bool sleep, bool lossBursts, double loss)
    {
        var figures = LoadRun.Measure(Small with { Faults = new LoadFaults { Sleep = sleep, LossBursts = lossBursts, Loss = loss } });

        Assert.Equal((0, 0), (figures.Gaps, figures.Missing));
        Assert.Equal(lossBursts || loss > 0, figures.RepairsSent > 0);
    }

    [Fact]
    public void The_more_members_keep_a_packet_the_more_each_of_them_keeps()
    {
        var plan = Small with { Nodes = 25 };
        var few = LoadRun.Measure(plan with { Replicas = 5 });
        var all = LoadRun.Measure(plan with { Replicas = 25 });

        Assert.True(few.ReceiverKeptBytes < all.ReceiverKeptBytes, $"{few.ReceiverKeptBytes} and {all.ReceiverKeptBytes} bytes");
        Assert.Equal((0, 0), (few.Missing, all.Missing));
    }

    [Fact]
    public void With_few_tokens_the_sender_waits_for_acknowledgements_and_receives_them()
    {
        var plan = Small with { Rate = 1000 };
        var steady = LoadRun.Measure(plan with { TokenRate = 5 });
        var adaptive = LoadRun.Measure(plan);

        Assert.InRange(steady.PendingAcks, 5 * adaptive.PendingAcks, double.MaxValue);
        Assert.Equal((0, 0), (steady.Missing, steady.Gaps));
    }

    [Fact]
    public void A_sender_that_hears_of_ranges_keeps_less_when_packets_are_lost_and_all_arrives()
    {
        var plan = Small with { Nodes = 10, Duration = TimeSpan.FromSeconds(3), Rate = 2000, Faults = new LoadFaults { Loss = 0.05 } };
        var one = LoadRun.Measure(plan);
        var ranges = LoadRun.Measure(plan with { FeedbackRanges = 20 });

        Assert.True(ranges.PendingAcks < one.PendingAcks, $"{ranges.PendingAcks} packets with ranges, {one.PendingAcks} without");
        Assert.Equal((0, 0), (ranges.Missing, ranges.Gaps));
    }

    [Fact]
    public void A_rate_is_kept_over_many_topics()
    {
        var figures = LoadRun.Measure(Small with { Topics = 5, Rate = 1500 });

        Assert.InRange(figures.MessagesPerSecond, 1480, 1520);
        Assert.Equal(0, figures.Missing);
    }
}
