using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Multicast.Sending;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Receiving;

public sealed class SenderSharesTests
{
    private const long Buffer = 6000;

    private readonly SenderShares _shares = new();
    private readonly LoneMember _member = new(5, 4);

    [Fact]
    public void A_single_sender_is_given_the_whole_buffer()
    {
        Send(1000);

        Assert.Equal(Buffer, _shares.ShareOf(Buffer));
    }

    [Theory]
    [InlineData(2)]
    [InlineData(4)]
    public void Windows_of_equal_senders_take_half_of_the_buffer_together(int senders)
    {
        Send([.. Enumerable.Repeat(200, senders)]);

        Assert.Equal(senders, _shares.Senders, 6);
        Assert.Equal(Buffer / 2, senders * (_shares.ShareOf(Buffer) / 2));
    }

    [Fact]
    public void A_sender_that_sends_little_hardly_counts()
    {
        Send(1000, 10, 10);

        Assert.InRange(_shares.Senders, 1, 1.05);
    }

    [Fact]
    public void Few_packets_do_not_count_however_many_send_them()
    {
        Send(15, 15, 15, 15);

        Assert.Equal(1, _shares.Senders);
    }

    [Fact]
    public void The_count_rises_at_once_and_falls_slowly()
    {
        Send(200, 200, 200, 200);
        Send(200);
        Assert.InRange(_shares.Senders, 3.5, 3.99);

        for (int i = 0; i < 100; i++)
        {
            Send(200);
        }

        Assert.InRange(_shares.Senders, 1, 1.05);
        Send(200, 200, 200, 200);
        Assert.Equal(4, _shares.Senders, 6);
    }

    [Fact]
    public void Senders_that_take_turns_count_together()
    {
        for (int i = 0; i < 20; i++)
        {
            Send(200, 0);
            Send(0, 200);
        }

        Assert.InRange(_shares.Senders, 1.95, 2);
    }

    [Fact]
    public void Packets_since_the_last_look_count_only_after_an_interval()
    {
        Send(1);
        Receive(0, 200);
        Receive(1, 200);
        Look();

        Assert.Equal(1, _shares.Senders);
        _member.Advance(5);
        Look();
        Assert.Equal(2, _shares.Senders, 6);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_member_reports_its_share_if_senders_are_to_share(bool share)
    {
        var member = new LoneMember(3, 2, new MulticastOptions { ClusterId = LoneMember.Cluster, SendersShareBuffers = share });
        long alone = member.Region.RoomBytes;
        member.Advance(5);
        foreach (var sender in member.Keys.Take(2))
        {
            member.Receive(member.Region.FindOrAdd(new StreamKey(sender, StreamClass.Reliable)), [.. Numbers(0, 200)]);
        }

        // The members keep what is not stable, so packet memory is shared too.
        long memory = member.Context.Receiving.Memory.BytesPerStream * 2 / SendWindow.RepairWindows;
        Assert.InRange(memory, (alone / 2) + 1, alone);
        Assert.Equal(share ? alone / 2 : memory, member.Region.RoomBytes);
    }

    // Each sender sends so many packets in one interval.
    private void Send(params int[] packets)
    {
        _member.Advance(5);
        for (int i = 0; i < packets.Length; i++)
        {
            Receive(i, packets[i]);
        }

        Look();
    }

    private void Receive(int sender, int packets)
    {
        var stream = StreamOf(_member.Keys[sender]);
        _member.Receive(stream, [.. Numbers(stream.Arrived, packets)]);
    }

    private void Look() => _shares.Look(_member.Region.Streams, _member.Environment.Now);

    private InboundStream StreamOf(NodeKey sender) => _member.Region.FindOrAdd(new StreamKey(sender, StreamClass.Reliable));

    private static IEnumerable<long> Numbers(long after, int count) => Enumerable.Range(1, count).Select(n => after + n);
}
