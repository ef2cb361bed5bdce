using QuickSilver.Membership.Regions.Sets;
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
        // Which packets are lost differs with the feedback, so the difference shows in the mean of several seeds.
        var (one, ranges) = (0.0, 0.0);
        for (ulong seed = 1; seed <= 6; seed++)
        {
            var plan = Small with
            {
                Nodes = 10,
                Duration = TimeSpan.FromSeconds(2),
                Rate = 2000,
                Faults = new LoadFaults { Loss = 0.05 },
                Seed = seed,
            };
            one += LoadRun.Measure(plan).PendingAcks / 6;
            var figures = LoadRun.Measure(plan with { FeedbackRanges = 20 });
            ranges += figures.PendingAcks / 6;
            Assert.Equal((0, 0), (figures.Missing, figures.Gaps));
        }

        Assert.True(ranges < one, $"{ranges} packets with ranges, {one} without");
    }

    // 1 % of loss at each receiver by itself, in partitions of five.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Independent_losses_take_little_more_than_one_request_each_and_hardly_any_of_the_sender(bool waitsForKeepers)
    {
        var figures = LoadRun.Measure(Small with
        {
            Nodes = 60,
            Faults = new LoadFaults { Loss = 0.01 },
            PullsWaitForKeepers = waitsForKeepers,
        });

        Assert.InRange(figures.Repair.Lost, 1_000, long.MaxValue);
        Assert.InRange(figures.Repair.RequestsPerLost, 0.5, 1.1);
        Assert.InRange(figures.SenderRepairs, 0, 0.005 * figures.RepairsSent);
        Assert.Equal((0, 0), (figures.Gaps, figures.Missing));
    }

    [Fact]
    public void A_pull_that_waits_for_the_keepers_gets_the_packet_later()
    {
        var plan = Small with { Nodes = 60, Faults = new LoadFaults { Loss = 0.01 } };
        var at = LoadRun.Measure(plan).Repair;
        var later = LoadRun.Measure(plan with { PullsWaitForKeepers = true }).Repair;

        Assert.True(at.MedianMillis < later.MedianMillis, $"{at.MedianMillis} and {later.MedianMillis} ms");
    }

    [Fact]
    public void A_rate_is_kept_over_many_topics()
    {
        var figures = LoadRun.Measure(Small with { Topics = 5, Rate = 1500 });

        Assert.InRange(figures.MessagesPerSecond, 1480, 1520);
        Assert.Equal(0, figures.Missing);
    }

    [Fact]
    public void With_one_message_in_each_packet_the_processor_of_the_sender_is_its_limit_and_not_its_card()
    {
        var figures = LoadRun.Measure(Small with { OnePerPacket = true });

        Assert.InRange(figures.MessagesPerPacket, 0.98, 1.02);
        Assert.InRange(figures.SenderBusyShare, 0.97, 1.05);
        Assert.InRange(figures.SenderCardShare, 0.5, 0.93);
        Assert.Equal((0, 0), (figures.Gaps, figures.Missing));
    }

    [Fact]
    public void A_sender_that_its_processor_limits_is_as_fast_with_more_receivers()
    {
        var few = LoadRun.Measure(Small with { Nodes = 2, OnePerPacket = true });
        var many = LoadRun.Measure(Small with { Nodes = 30, OnePerPacket = true });

        Assert.InRange(many.MessagesPerSecond, 0.97 * few.MessagesPerSecond, double.MaxValue);
    }

    [Fact]
    public void Messages_share_packets_unless_each_is_to_have_its_own()
    {
        var figures = LoadRun.Measure(Small with { MessageBytes = 500 });

        Assert.InRange(figures.MessagesPerPacket, 2, 3);
    }

    [Theory]
    [InlineData("light", 0.95, 1.01)]
    [InlineData("papers", 0.80, 0.93)]
    [InlineData("heavyweight", 0.70, 0.85)]
    public void Throughput_falls_with_topics_that_are_heavy_and_stays_with_light_ones(string name, double least, double most)
    {
        // Each stands for as many as make the papers' 8,192 of these.
        const int Topics = 16;
        var weight = TopicWeight.All.Single(weight => weight.Name == name);
        var plan = Small with { OnePerPacket = true, Topics = Topics };
        var none = LoadRun.Measure(plan with { Weight = weight with { Kind = default } });
        var all = LoadRun.Measure(plan with { Weight = weight with { Kind = weight.Kind * (8192 / Topics) } });

        Assert.InRange(all.MessagesPerSecond / none.MessagesPerSecond, least, most);
        Assert.True(all.Collector.SenderShare > none.Collector.SenderShare);
        Assert.Equal(8192 / Topics * Topics * weight.Kind.Bytes, all.Collector.SenderLiveBytes - none.Collector.SenderLiveBytes, 1e6);
    }

    [Fact]
    public void A_region_for_all_costs_receivers_what_others_want()
    {
        var plan = Small with { Nodes = 9, Topics = 8, Communities = 4, Rate = 2000 };
        var byInterest = LoadRun.Measure(plan);
        var forAll = LoadRun.Measure(plan with { Sets = TopicSetRules.RegionForAll });

        // Each message is for one of four communities. In the region for all, each receiver has to read the others' too.
        double packetCost = HostModel.Papers.ReceivedDatagram.TotalSeconds + HostModel.Papers.Kilobyte.TotalSeconds;
        Assert.InRange(byInterest.MessagesPerSecond, 0.98 * 500, 1.02 * 500);
        Assert.InRange(forAll.MessagesPerSecond, 0.98 * 500, 1.02 * 500);
        Assert.InRange(forAll.ReceiverBusyShare - byInterest.ReceiverBusyShare, 0.5 * 1500 * packetCost, 1.5 * 1500 * packetCost);
        Assert.Equal((0, 0, 0, 0), (byInterest.Gaps, byInterest.Missing, forAll.Gaps, forAll.Missing));
    }

    [Fact]
    public void Two_senders_are_reported_together_and_all_of_both_arrives()
    {
        var plan = Small with { Nodes = 6, Rate = 2000 };
        var one = LoadRun.Measure(plan);
        var two = LoadRun.Measure(plan with { Senders = 2 });

        Assert.InRange(two.MessagesPerSecond, 0.98 * one.MessagesPerSecond, 1.02 * one.MessagesPerSecond);
        Assert.InRange(two.SenderBusyShare, 0.3 * one.SenderBusyShare, 0.8 * one.SenderBusyShare);
        Assert.Equal((0, 0), (two.Gaps, two.Missing));
    }

    [Fact]
    public void The_time_to_acknowledge_is_what_a_packet_waits_and_not_less_than_a_round_of_a_ring()
    {
        var (figures, traces) = LoadRun.Trace(Small with { Nodes = 12, Rate = 1000 });

        Assert.InRange(traces.Ack.Count, 10, 60);
        Assert.InRange(traces.Ack.Quantile(0), traces.RingRoundTrips.Quantile(0) / 2, long.MaxValue);
        // As many packets are pending as are sent in that time.
        Assert.InRange(figures.AckMillis, 0.5 * figures.PendingAcks, 2 * figures.PendingAcks + 2);
        Assert.True(traces.TokenIntervals.Count > 10);
    }

    [Fact]
    public void With_rare_tokens_as_many_packets_are_pending_and_kept_as_are_sent_while_one_waits()
    {
        // Once windows have opened, packets leave evenly.
        var plan = Small with { Rate = 2000, TokenRate = 2, WarmUp = TimeSpan.FromSeconds(20), Duration = TimeSpan.FromSeconds(4) };
        var figures = LoadRun.Measure(plan);

        // Little's law.
        double packetsPerMilli = 2 / figures.MessagesPerPacket;
        Assert.InRange(figures.AckMillis, 0.9 * figures.PendingAcks / packetsPerMilli, 1.1 * figures.PendingAcks / packetsPerMilli);
        Assert.InRange(figures.PendingBytes, 0.9 * MessageBytes * figures.PendingAcks, 1.2 * MessageBytes * figures.PendingAcks);
    }

    [Fact]
    public void Alarms_are_later_at_a_node_that_slept()
    {
        var plan = Small with { Duration = TimeSpan.FromSeconds(4), Rate = 1000 };
        var calm = LoadRun.Trace(plan).Traces;
        var slept = LoadRun.Trace(plan with { Faults = new LoadFaults { Sleep = true } }).Traces;

        Assert.InRange(slept.ReceiverAlarms.GreatestPerSecond.Most, TimeSpan.FromSeconds(0.1).Ticks, TimeSpan.FromSeconds(0.5).Ticks);
        Assert.InRange(calm.ReceiverAlarms.GreatestPerSecond.Most, 0, TimeSpan.FromSeconds(0.05).Ticks);
        Assert.Equal(3 * 4, calm.ReceiverAlarms.GreatestPerSecond.Count);
    }

    [Fact]
    public void Losses_of_a_perturbed_node_are_reported_of_it_alone()
    {
        var plan = Small with { Duration = TimeSpan.FromSeconds(2), Rate = 2000 };
        var figures = LoadRun.Measure(plan with { Faults = new LoadFaults { LossBursts = true } });

        // 10 ms of every second.
        Assert.InRange(figures.Perturbed.LossShare, 0.005, 0.02);
        Assert.True(figures.Perturbed.RecoveryMeanMillis > 0);
        Assert.Equal(0, LoadRun.Measure(plan).Perturbed.LossShare);
    }
}
