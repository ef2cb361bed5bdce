using QuickSilver.Core.Sealing;

namespace QuickSilver.Core.Tests.Sealing;

public sealed class ClusterSealsTests
{
    private static readonly ClusterKey[] Keys = [.. Enumerable.Range(1, 4).Select(i => new ClusterKey(i, SealedPackets.KeyOf((byte)i)))];

    private readonly SealedPackets.Budget _budget = new();

    [Fact]
    public void The_key_of_another_service_is_the_newest_whatever_its_number()
    {
        using var seals = new ClusterSeals(SealedPackets.Self, _budget);
        seals.Add(Keys[2]);
        seals.Add(Keys[0], isOfAnother: true);
        Assert.Equal(Keys[0].Label, seals.Newest!.Value.Label);
        Assert.NotNull(seals.Find(Keys[2].Label));
        // Of this service now.
        seals.Add(Keys[1]);
        Assert.Equal(Keys[1].Label, seals.Newest!.Value.Label);
        seals.Add(Keys[0]);
        Assert.Equal(Keys[1].Label, seals.Newest!.Value.Label);
    }

    [Fact]
    public void A_node_that_returns_to_a_service_seals_under_its_key_again()
    {
        using var seals = new ClusterSeals(SealedPackets.Self, _budget);
        seals.Add(Keys[2]);
        seals.Add(Keys[0], isOfAnother: true);
        seals.Add(Keys[2], isOfAnother: true);
        Assert.Equal(Keys[2].Label, seals.Newest!.Value.Label);
        Assert.NotNull(seals.Find(Keys[0].Label));
    }

    [Fact]
    public void No_epoch_begins_twice_under_a_key_that_was_given_up_and_came_back()
    {
        using var seals = new ClusterSeals(SealedPackets.Self, _budget);
        seals.Add(Keys[0]);
        uint first = EpochOfNext(seals);
        seals.Add(Keys[1], isOfAnother: true);
        seals.Add(Keys[2], isOfAnother: true);
        Assert.Null(seals.Find(Keys[0].Label));
        seals.Add(Keys[0], isOfAnother: true);
        Assert.True(EpochOfNext(seals) > first);
    }

    private static uint EpochOfNext(ClusterSeals seals)
    {
        var sealer = seals.Newest!.Value.Seal.Sealer;
        SealedPackets.Seal(sealer, SealedPackets.Plain([1]));
        return sealer.Steps;
    }
}
