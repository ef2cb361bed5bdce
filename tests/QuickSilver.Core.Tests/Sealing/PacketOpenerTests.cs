using QuickSilver.Core.Sealing;
using QuickSilver.Core.Wire;

namespace QuickSilver.Core.Tests.Sealing;

// What comes again, from strangers, and around the end of an epoch.
public sealed class PacketOpenerTests
{
    private readonly SealedPackets.Budget _budget = new();

    [Fact]
    public void Packets_other_than_data_are_taken_once_and_data_is_left_to_its_stream()
    {
        using var sealer = NewSealer();
        using var opener = new PacketOpener(SealedPackets.Key, _budget);
        foreach (var (kind, again) in new[] { (PacketKind.Token, DropReason.Replayed), (PacketKind.Data, DropReason.None) })
        {
            var packet = SealedPackets.Seal(sealer, SealedPackets.Plain([1], kind));
            Assert.Equal(DropReason.None, SealedPackets.Open(opener, (byte[])packet.Clone()));
            Assert.Equal(again, SealedPackets.Open(opener, (byte[])packet.Clone()));
        }
    }

    [Fact]
    public void No_counter_is_used_twice_in_an_epoch_and_no_epoch_begins_twice()
    {
        using var sealer = NewSealer(packetsPerEpoch: 7);
        var used = new HashSet<(uint, ulong, bool)>();
        for (int i = 0; i < 200; i++)
        {
            var kind = i % 3 == 0 ? PacketKind.Data : PacketKind.Pull;
            var packet = SealedPackets.Seal(sealer, SealedPackets.Plain([2], kind));
            Assert.True(used.Add((new PacketHeader(packet).KeyEpoch, SealedPacket.CounterOf(packet), kind == PacketKind.Data)));
            if (i == 100)
            {
                // What was derived is given up, and derived again.
                sealer.Dispose();
            }
        }

        Assert.Equal(30U, sealer.Steps);
    }

    [Fact]
    public void Packets_of_the_last_two_epochs_are_opened_in_any_order_and_older_ones_not()
    {
        using var sealer = NewSealer(packetsPerEpoch: 2);
        using var opener = new PacketOpener(SealedPackets.Key, _budget);
        var packets = Enumerable.Range(0, 8).Select(_ => SealedPackets.Seal(sealer, SealedPackets.Plain([3]))).ToList();
        foreach (int i in new[] { 1, 2, 0, 3, 4 })
        {
            Assert.Equal(DropReason.None, SealedPackets.Open(opener, (byte[])packets[i].Clone()));
        }

        Assert.Equal(DropReason.UnknownKey, SealedPackets.Open(opener, (byte[])packets[0].Clone()));
        Assert.Equal(DropReason.None, SealedPackets.Open(opener, (byte[])packets[3].Clone()));
        // One that missed an epoch continues with the next.
        Assert.Equal(DropReason.None, SealedPackets.Open(opener, (byte[])packets[7].Clone()));
    }

    [Fact]
    public void A_repeated_packet_is_refused_also_after_its_derived_key_was_given_up()
    {
        using var sealer = NewSealer(packetsPerEpoch: 6);
        using var opener = new PacketOpener(SealedPackets.Key, _budget);
        var packets = Enumerable.Range(0, 8).Select(_ => SealedPackets.Seal(sealer, SealedPackets.Plain([3], PacketKind.Probe))).ToList();
        Assert.Equal(DropReason.None, Open(0));
        Assert.Equal(DropReason.None, Open(2));
        opener.Rest();
        Assert.Equal(1, opener.Count);
        for (int round = 0; round < 3; round++)
        {
            // The second did not come, and comes too late.
            Assert.All([0, 1, 2], i => Assert.Equal(DropReason.Replayed, Open(i)));
            opener.Rest(SealedPackets.Self);
        }

        Assert.Equal(DropReason.None, Open(4));
        opener.Rest();
        Assert.Equal(DropReason.Replayed, Open(3));
        Assert.Equal(DropReason.None, Open(5));
        opener.Rest(SealedPackets.Self);
        Assert.Equal(DropReason.None, Open(6));
        opener.Rest(SealedPackets.Self);
        Assert.Equal(DropReason.UnknownKey, Open(5));
        Assert.Equal(DropReason.Replayed, Open(6));
        Assert.Equal(DropReason.None, Open(7));

        DropReason Open(int i) => SealedPackets.Open(opener, (byte[])packets[i].Clone());
    }

    [Fact]
    public void A_stranger_leaves_nothing_behind_and_takes_no_more_than_the_budget()
    {
        var budget = new SealedPackets.Budget(left: 10);
        using var opener = new PacketOpener(SealedPackets.Key, budget);
        using var stranger = new PacketSealer(SealedPackets.KeyOf(2), SealedPackets.Self, 1);
        for (int i = 0; i < 10; i++)
        {
            var forged = SealedPackets.Seal(stranger, SealedPackets.Plain([4], PacketKind.Token));
            Assert.Equal(DropReason.NotAuthentic, SealedPackets.Open(opener, forged));
        }

        Assert.Equal(10, budget.Taken);
        Assert.Equal(DropReason.RateLimited, SealedPackets.Open(opener, SealedPackets.Seal(stranger, SealedPackets.Plain([4]))));
    }

    [Fact]
    public void A_stranger_that_claims_the_next_epochs_of_all_sealers_takes_the_budget_from_none()
    {
        const int Sealers = 16;
        var budget = new SealedPackets.Budget(left: 2 * Sealers);
        using var opener = new PacketOpener(SealedPackets.Key, budget);
        for (uint epoch = 1; epoch <= 2; epoch++)
        {
            for (int i = 0; i < 100 * Sealers; i++)
            {
                Assert.Equal(DropReason.NotAuthentic, Open(SealedPackets.KeyOf(2), i % Sealers, epoch));
            }

            for (int i = 0; i < Sealers; i++)
            {
                Assert.Equal(DropReason.None, Open(SealedPackets.Key, i, epoch));
            }
        }

        Assert.Equal(2 * Sealers, budget.Taken);

        DropReason Open(SecretKey key, int one, uint epoch)
        {
            var self = new Sealer((ulong)one + 1, 1);
            using var subkey = new Subkey(key, self, epoch);
            byte[] plain = SealedPackets.Plain([4], PacketKind.Token);
            byte[] packet = new byte[plain.Length + SealedPacket.TrailerBytes];
            subkey.Seal(plain, packet, counter: 1);
            return opener.Open(packet, self);
        }
    }

    [Fact]
    public void A_forged_epoch_does_not_end_a_genuine_one()
    {
        using var sealer = NewSealer();
        using var stranger = new PacketSealer(SealedPackets.KeyOf(2), SealedPackets.Self, 1);
        using var opener = new PacketOpener(SealedPackets.Key, _budget);
        for (int i = 0; i < 20; i++)
        {
            Assert.Equal(DropReason.None, SealedPackets.Open(opener, SealedPackets.Seal(sealer, SealedPackets.Plain([5]))));
            Assert.Equal(DropReason.NotAuthentic, SealedPackets.Open(opener, SealedPackets.Seal(stranger, SealedPackets.Plain([5]))));
        }
    }

    [Fact]
    public void Of_the_keys_of_the_cluster_the_last_two_are_known_whatever_the_order()
    {
        using var seals = new ClusterSeals(SealedPackets.Self, _budget);
        var keys = Enumerable.Range(1, 4).Select(i => new ClusterKey(i, SealedPackets.KeyOf((byte)i))).ToArray();
        seals.Add(keys[0]);
        seals.Add(keys[2]);
        seals.Add(keys[1]);
        seals.Add(keys[2]);
        Assert.Equal(keys[2].Label, seals.Newest!.Value.Label);
        Assert.NotNull(seals.Find(keys[0].Label));
        seals.Add(keys[3]);
        Assert.Equal(keys[3].Label, seals.Newest!.Value.Label);
        Assert.NotNull(seals.Find(keys[2].Label));
        Assert.Null(seals.Find(keys[0].Label));
    }

    private static PacketSealer NewSealer(long packetsPerEpoch = PacketSealer.DefaultPacketsPerEpoch) =>
        new(SealedPackets.Key, SealedPackets.Self, packetsPerEpoch);
}
