using QuickSilver.Multicast.Sending.Acknowledgement;

namespace QuickSilver.Multicast.Tests.Sending;

public sealed class AckStateTests
{
    private static readonly TimeSpan Start = TimeSpan.FromSeconds(100);
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private AckState _acks;

    [Fact]
    public void The_acknowledged_number_only_grows()
    {
        Assert.True(_acks.OnAck(5, Start));
        Assert.False(_acks.OnAck(5, Start));
        Assert.False(_acks.OnAck(4, Start));
        Assert.Equal(5, _acks.Through);
    }

    [Fact]
    public void An_acknowledgement_is_due_from_the_first_packet_that_it_lacks()
    {
        _acks.OnAck(5, Start);
        _acks.OnSent(5, Start + Second);
        _acks.OnSent(6, Start + (2 * Second));
        Assert.Equal(3 * Second, _acks.SilenceAt(Start + (4 * Second)));
    }

    [Fact]
    public void An_acknowledgement_without_news_ends_the_silence()
    {
        _acks.OnAck(5, Start);
        _acks.OnAck(5, Start + Second);
        Assert.Equal(Second, _acks.SilenceAt(Start + (2 * Second)));
    }

    [Fact]
    public void A_pause_of_this_node_is_no_silence_of_the_members()
    {
        _acks.OnAck(5, Start);
        _acks.OnPause(Second, Start + (2 * Second));
        Assert.Equal(Second, _acks.SilenceAt(Start + (2 * Second)));
    }

    [Fact]
    public void One_of_so_many_packets_asks_for_an_acknowledgement()
    {
        Assert.Equal([4, 8, 12], Enumerable.Range(1, 14).Where(packet => _acks.TryWant(packet, spacing: 4)));
    }

    [Fact]
    public void Packets_of_a_best_effort_stream_count_as_held_once_sent()
    {
        _acks.SkipTo(7);
        Assert.Equal(7, _acks.Through);
        Assert.False(_acks.OnAck(7, Start));
    }
}
