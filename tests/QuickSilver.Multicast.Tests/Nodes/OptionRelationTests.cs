using QuickSilver.Core.Buffers;
using QuickSilver.Core.Sealing;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Tests.Nodes;

public sealed class OptionRelationTests
{
    private static readonly MulticastOptions Defaults = new() { ClusterId = 7 };

    // What the exception says of a relation, and what breaks it.
    private static readonly Dictionary<string, MulticastOptions> Broken = new()
    {
        { "MinPacketBytes (576) must be at most PacketBytes (575).", Defaults with { PacketBytes = 575 } },
        { "PacketBytes (65537) must be at most SlabPool.BlockBytes (65536).", Defaults with { PacketBytes = SlabPool.BlockBytes + 1 } },
        { "DatagramBytes (65508) must be at most MaxDatagramBytes (65507).", Defaults with { PacketBytes = 65_508 } },
        { "DatagramBytes (65509) must be at most MaxDatagramBytes (65507).", Sealed(65_509) },
        { "1 (1) must be at most PacketsPerKeyEpoch (0).", Defaults with { PacketsPerKeyEpoch = 0 } },
        {
            "must be at most PacketSealer.DefaultPacketsPerEpoch",
            Defaults with { PacketsPerKeyEpoch = PacketSealer.DefaultPacketsPerEpoch + 1 }
        },
        { "PacketBytes (1472) must be at most RepairBytesPerSecond (1471).", Defaults with { RepairBytesPerSecond = 1_471 } },
        { "LeastRetentionBytes (1048576) must be at most RetentionBytes (1048575).", Defaults with { RetentionBytes = (1 << 20) - 1 } },
        { "MaxMessageBytes (16777216) must be at most ReassemblyBytes (16777215).", Defaults with { ReassemblyBytes = (16 << 20) - 1 } },
        { "ParkedBytesOfTopic (16777216) must be at most ParkedBytes (10000).", Defaults with { ParkedBytes = 10_000 } },
        { "1 (1) must be at most WindowPackets (0).", Defaults with { WindowPackets = 0 } },
        { "1 (1) must be at most PullAnswerPackets (0).", Defaults with { PullAnswerPackets = 0 } },
        { "1 (1) must be at most ChecksPerSecond (0).", Defaults with { ChecksPerSecond = 0 } },
        {
            "ReorderWindow (00:00:00.0010000) must be less than BestEffortPatience (00:00:00.0010000).",
            Defaults with { BestEffortPatience = Defaults.ReorderWindow }
        },
        { "PullRepeatMin (00:00:00.0040000) must be at most PullRepeat (00:00:00.0030000).", Defaults with { PullRepeatMin = Ms(4) } },
        { "PullRepeat (00:00:00.0030000) must be at most PullRepeatMax (00:00:00.0020000).", Defaults with { PullRepeatMax = Ms(2) } },
        { "AnnounceAfter (00:00:00.0050000) must be at most AnnounceMax (00:00:00.0040000).", Defaults with { AnnounceMax = Ms(4) } },
        { "AnnounceMax (00:00:00.2500000) must be less than AckSilence (00:00:00.2500000).", Defaults with { AckSilence = Ms(250) } },
        { "TokenIntervalActive (00:00:00.0090000) must be at most TokenIntervalWaiting", Defaults with { TokenIntervalActive = Ms(9) } },
        { "TokenIntervalWaiting (00:00:00.0080000) must be at most TokenIntervalIdle", Defaults with { TokenIntervalIdle = Ms(7) } },
        { "TokenTimeoutMin (00:00:00.0260000) must be at most TokenTimeout (", Defaults with { TokenTimeoutMin = Ms(26) } },
        { "TokenTimeout (00:00:00.0250000) must be at most TokenTimeoutMax (", Defaults with { TokenTimeoutMax = Ms(24) } },
        { "PullRepeat (00:00:00.0030000) must be less than EpochSpacing (00:00:00.0030000).", Defaults with { EpochSpacing = Ms(3) } },
        { "TokenIntervalIdle (00:00:03) must be less than ClosingPause (00:00:03).", Defaults with { TokenIntervalIdle = Ms(3_000) } },
        { "TokenIntervalIdle (00:00:01) must be at most TokenIntervalResting (", Defaults with { TokenIntervalResting = Ms(900) } },
        { "2 * TokenIntervalResting (00:00:09) must be less than 3 * ClosingPause", Defaults with { TokenIntervalResting = Ms(4_500) } },
        { "TokenTimeoutMax (00:00:03) must be less than ClosingPause (00:00:03).", Defaults with { TokenTimeoutMax = Ms(3_000) } },
        { "1 (1) must be at most Experiments.FeedbackRanges (0).", Defaults with { Experiments = new() { FeedbackRanges = 0 } } },
        {
            "TimeSpan.Zero (00:00:00) must be less than Experiments.TokenInterval",
            Defaults with { Experiments = new() { TokenInterval = TimeSpan.Zero } }
        },
    };

    public static TheoryData<string> BrokenRelations => [.. Broken.Keys];

    [Theory]
    [MemberData(nameof(BrokenRelations))]
    public void A_relation_that_does_not_hold_is_named_with_its_values(string relation) =>
        Assert.Contains(relation, Assert.Throws<ArgumentException>(Broken[relation].Validate).Message);

    [Fact]
    public void All_relations_hold_between_the_defaults() => Defaults.Validate();

    [Theory]
    [InlineData(576)]
    [InlineData(1_452)]
    [InlineData(1_472)]
    [InlineData(8_972)]
    [InlineData(65_507)]
    public void All_relations_hold_for_packets_of_all_sizes_sealed_or_not(int datagramBytes)
    {
        (Defaults with { PacketBytes = datagramBytes }).Validate();
        Sealed(Math.Max(datagramBytes, NodeOptions.LeastDatagramBytes(isSealed: true))).Validate();
    }

    [Fact]
    public void A_datagram_of_the_default_size_fills_an_Ethernet_frame() => Assert.Equal(1_500, Defaults.DatagramBytes + 20 + 8);

    [Fact]
    public void No_experiment_is_on_by_default() => Assert.Equal((null, 1, false), (
        Defaults.Experiments.TokenInterval, Defaults.Experiments.FeedbackRanges, Defaults.Experiments.PullsWaitForKeepers));

    private static MulticastOptions Sealed(int datagramBytes) =>
        Defaults with { IsSealed = true, PacketBytes = datagramBytes - SealedPacket.TrailerBytes };

    private static TimeSpan Ms(double time) => TimeSpan.FromMilliseconds(time);
}
