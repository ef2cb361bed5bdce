using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Sending.Packing;

namespace QuickSilver.Multicast.Tests.Sending;

// What a packer says it may take of packet memory is what it takes at most, whatever the size of packets and messages (I17).
public sealed class PackerTests
{
    private static readonly Gen<int> PacketSizes =
        Gen.OneOf(Gen.Elements(576, 1472, 8972, 32_768, 40_000, 65_507), Gen.Choose(576, 65_507));

    private static readonly Gen<int> Payloads =
        Gen.OneOf(Gen.Choose(0, 2_000), Gen.Choose(0, 200_000), Gen.Elements(65_536, 131_072, 1_000_000));

    // A negative number is a flush; every third message or so comes with a start table.
    private static readonly Gen<(int PacketBytes, int[] Steps)> Loads =
        from packetBytes in PacketSizes
        from steps in Gen.Frequency((4, Payloads), (1, Gen.Constant(-1))).ArrayOf()
        select (packetBytes, steps);

    [Fact]
    public void A_message_takes_no_more_blocks_than_were_said()
    {
        Prop.ForAll(Loads.ToArbitrary(), load =>
        {
            var pool = new SlabPool(1L << 30);
            var packets = new RetentionBuffer(new RetentionBudget(long.MaxValue));
            var packer = new Packer(pool, new PacketTemplate(1, 2, 3, 4, 5), load.PacketBytes, packets);
            var starts = new StartTable();
            for (int i = 0; i < StartTable.MaxEntries; i++)
            {
                starts.Add(i + 1, 1 + (i * 10));
            }

            for (int i = 0; i < load.Steps.Length && pool.LeasedBlocks < 2_000; i++)
            {
                if (load.Steps[i] < 0)
                {
                    packer.Flush();
                    continue;
                }

                long before = pool.LeasedBlocks;
                int said = packer.BlocksFor(load.Steps[i]);
                packer.Append(7, i + 1, i % 3 == 0 ? starts : null, [], new byte[load.Steps[i]]);
                Assert.InRange(pool.LeasedBlocks - before, 0, said);
                Assert.InRange(said, 0, packer.MostBlocks(load.Steps[i]));
            }
        }).Check(Config.QuickThrowOnFailure.WithMaxTest(300).WithEndSize(30));
    }

    // It is read as soon as its packet is held.
    [Fact]
    public void A_mark_lies_in_one_packet_whatever_precedes_it()
    {
        const int Mark = 16;
        const int PacketBytes = 576;
        for (int before = 0; before < 2 * PacketBytes; before++)
        {
            var packets = new RetentionBuffer(new RetentionBudget(long.MaxValue));
            var packer = new Packer(new SlabPool(1L << 22), new PacketTemplate(1, 2, 3, 4, 5), PacketBytes, packets);
            var starts = new StartTable();
            starts.Add(1, 1);
            packer.Append(7, 1, null, [], new byte[before]);
            long end = packer.Append(MessageHeader.MarkTopic, 1, starts, [], new byte[Mark]);
            packer.Flush();
            var packet = packets.PacketAt(end);
            int at = packet.Length - Mark - starts.EncodedBytes - MessageHeader.Bytes;
            Assert.True(
                at >= PacketHeader.Bytes && MessageHeader.TryRead(packet[at..], out int bytes, out _, out ulong topic, out _)
                && (bytes, topic) == (Mark, MessageHeader.MarkTopic),
                $"after {before} bytes");
        }
    }

    [Fact]
    public void A_packer_that_rests_has_no_block_and_numbers_its_packets_on()
    {
        var pool = new SlabPool(4 * SlabPool.BlockBytes);
        var packets = new RetentionBuffer(new RetentionBudget(long.MaxValue));
        var packer = new Packer(pool, new PacketTemplate(1, 2, 3, 4, 5), 1472, packets);
        packer.Append(7, 1, null, [], new byte[100]);
        packer.Rest(isNeeded: true);
        Assert.Equal(1, pool.LeasedBlocks);
        packer.Flush();
        packets.ReleaseThrough(packets.Last);

        packer.Rest(isNeeded: false);
        Assert.Equal(1, pool.LeasedBlocks);
        packer.Rest(isNeeded: true);
        Assert.Equal(0, pool.LeasedBlocks);
        Assert.Equal(2, packer.Append(7, 2, null, [], new byte[100]));
    }
}
