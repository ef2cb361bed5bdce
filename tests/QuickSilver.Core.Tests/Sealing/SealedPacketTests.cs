using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Core.Sealing;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Core.Wire;

namespace QuickSilver.Core.Tests.Sealing;

public sealed class SealedPacketTests
{
    private static readonly PacketKind[] Kinds = [PacketKind.Data, PacketKind.Token, PacketKind.Pull, PacketKind.Credit];

    [Fact]
    public void Any_packet_opens_as_it_was_before_but_for_its_checksum()
    {
        Prop.ForAll(
            Bodies().ToArbitrary(),
            Gen.Elements(Kinds).ToArbitrary(),
            (body, kind) =>
            {
                using var sealer = NewSealer();
                using var opener = NewOpener();
                var plain = SealedPackets.Plain(body, kind, sequence: body.Length);
                var packet = SealedPackets.Seal(sealer, plain);
                bool isHidden = body.Length < 16 || packet.AsSpan().IndexOf(body) < 0;
                var opened = SealedPackets.Open(opener, packet);
                // The checksum is not computed where a tag is.
                plain.AsSpan(PacketHeader.ChecksumOffset, sizeof(uint)).Clear();
                return isHidden && opened == DropReason.None && packet.AsSpan(0, plain.Length).SequenceEqual(plain);
            }).QuickCheckThrowOnFailure();
    }

    [Fact]
    public void Any_flipped_bit_of_header_body_and_trailer_is_refused()
    {
        using var sealer = NewSealer();
        foreach (var kind in Kinds)
        {
            var packet = SealedPackets.Seal(sealer, SealedPackets.Plain([1, 2, 3, 4, 5], kind));
            for (int bit = 0; bit < packet.Length * 8; bit++)
            {
                using var opener = NewOpener();
                var flipped = (byte[])packet.Clone();
                flipped[bit / 8] ^= (byte)(1 << (bit % 8));
                Assert.NotEqual(DropReason.None, SealedPackets.Open(opener, flipped));
            }
        }
    }

    [Fact]
    public void A_packet_that_is_not_sealed_is_refused_as_such_and_so_is_a_sealed_one_where_none_are()
    {
        using var sealer = NewSealer();
        var plain = SealedPackets.Plain([1, 2, 3]);
        Assert.Equal(DropReason.Unsealed, SealedPacket.Validate(plain, SealedPackets.Cluster));
        Assert.Equal(DropReason.UnknownKey, PacketHeader.Validate(SealedPackets.Seal(sealer, plain), SealedPackets.Cluster));
    }

    [Fact]
    public void Any_bytes_are_refused()
    {
        Prop.ForAll(
            Bodies().ToArbitrary(),
            bytes =>
            {
                using var opener = NewOpener();
                return SealedPackets.Open(opener, bytes) != DropReason.None;
            }).QuickCheckThrowOnFailure();
    }

    [Fact]
    public void A_key_a_sealer_and_an_epoch_have_a_subkey_of_their_own()
    {
        var subkeys = new HashSet<string>();
        byte[] subkey = new byte[SecretKey.Bytes];
        foreach (var key in new[] { SealedPackets.Key, SealedPackets.Key.OfView(1, 2, 3), SealedPackets.Key.OfView(1, 3, 2) })
        {
            foreach (var sealer in new Sealer[] { new(1, 1), new(2, 1), new(1, 2) })
            {
                for (uint epoch = 1; epoch < 4; epoch++)
                {
                    key.DeriveSubkey(sealer, epoch, subkey);
                    Assert.True(subkeys.Add(Convert.ToHexString(subkey)));
                }
            }
        }
    }

    [Fact]
    public void A_key_is_not_shown()
    {
        var key = new ClusterKey(3, SealedPackets.KeyOf(0xAB));
        Assert.DoesNotContain("ABAB", key.ToString(), StringComparison.OrdinalIgnoreCase);
        Assert.DoesNotContain("171", key.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public void Sealing_and_opening_allocate_nothing()
    {
        using var sealer = NewSealer();
        using var opener = NewOpener();
        var run = SealedPackets.Plain(new byte[1000]).Concat(SealedPackets.Plain(new byte[1000])).ToArray();
        var into = new byte[run.Length + (2 * SealedPacket.TrailerBytes)];
        int half = into.Length / 2;
        Assert.Equal(0, Allocations.After(() =>
        {
            sealer.Seal(run, run.Length / 2, into);
            opener.Open(into.AsSpan(0, half), SealedPackets.Self);
            opener.Open(into.AsSpan(half), SealedPackets.Self);
        }));
    }

    private static Gen<byte[]> Bodies() => Gen.Choose(0, 255).Select(number => (byte)number).ArrayOf();

    private static PacketSealer NewSealer() => new(SealedPackets.Key, SealedPackets.Self, PacketSealer.DefaultPacketsPerEpoch);

    private static PacketOpener NewOpener() => new(SealedPackets.Key, new SealedPackets.Budget());
}
