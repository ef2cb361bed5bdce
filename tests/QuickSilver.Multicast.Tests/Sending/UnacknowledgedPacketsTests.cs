using QuickSilver.Core.Buffers;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Sending.Acknowledgement;
using QuickSilver.Multicast.Sending.Packing;

namespace QuickSilver.Multicast.Tests.Sending;

public sealed class UnacknowledgedPacketsTests
{
    private const ulong Topic = 7;
    private const int PacketBytes = 300;

    private readonly RetentionBuffer _packets = new(new RetentionBudget(long.MaxValue));
    private readonly Packer _packer;
    private UnacknowledgedPackets _unacknowledged;

    public UnacknowledgedPacketsTests()
    {
        _packer = new Packer(new SlabPool(1L << 22), new PacketTemplate(1, 2, 3, 4, 5), PacketBytes, _packets);
        _unacknowledged = new UnacknowledgedPackets(_packets);
    }

    [Fact]
    public void Messages_count_until_their_packet_is_acknowledged()
    {
        Append(1, bytes: 200);
        Append(2, bytes: 200);
        Append(3, bytes: 10);
        Assert.Equal(3, Read(acknowledged: 0));
        Acknowledge(_packets.Last);
        Assert.Equal(0, Read(_packets.Last));
    }

    [Fact]
    public void A_message_counts_until_its_last_packet_is_acknowledged_although_its_header_is_gone()
    {
        Append(1, bytes: 4 * PacketBytes);
        for (long held = 1; held < _packets.Last; held++)
        {
            Acknowledge(held);
            Assert.Equal(1, Read(held));
        }

        Acknowledge(_packets.Last);
        Assert.Equal(0, Read(_packets.Last));
    }

    [Fact]
    public void A_message_that_was_cut_does_not_count_behind_its_end()
    {
        Append(1, bytes: PacketBytes);
        Append(2, bytes: PacketBytes);
        Acknowledge(1);
        Assert.Equal(2, Read(acknowledged: 1));
        Acknowledge(2);
        Assert.Equal(1, Read(acknowledged: 2));
    }

    private void Append(long number, int bytes)
    {
        _packer.Append(Topic, number, null, [], new byte[bytes]);
        _packer.Flush();
    }

    private void Acknowledge(long through)
    {
        _unacknowledged.NoteCut(through);
        _packets.ReleaseThrough(through);
    }

    private long Read(long acknowledged)
    {
        var messages = new UnacknowledgedMessages();
        _unacknowledged.Read(messages, acknowledged, "a test");
        return messages.Topics.Sum(static topic => topic.Messages);
    }
}
