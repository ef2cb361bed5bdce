using QuickSilver.Multicast.Pacing;

namespace QuickSilver.Multicast.Tests.Pacing;

public sealed class AnnouncementIntervalTests
{
    private readonly AnnouncementInterval _pace = new(Milliseconds(5), Milliseconds(250));

    private static TimeSpan Milliseconds(int count) => TimeSpan.FromMilliseconds(count);

    private void Acknowledge(long packet, int sentAt, int after)
    {
        _pace.OnSent(packet, Milliseconds(sentAt));
        _pace.OnAcknowledged(packet, Milliseconds(sentAt + after));
    }

    [Fact]
    public void It_begins_with_the_least_and_doubles_up_to_the_most()
    {
        Assert.Equal(Milliseconds(5), _pace.First());
        Assert.Equal(Milliseconds(10), _pace.Next());
        Assert.Equal(Milliseconds(20), _pace.Next());
        for (int i = 0; i < 10; i++)
        {
            _pace.Next();
        }

        Assert.Equal(Milliseconds(250), _pace.Next());
        Assert.Equal(Milliseconds(5), _pace.First());
    }

    [Fact]
    public void Where_acknowledgements_are_quick_the_first_wait_stays_the_least()
    {
        Acknowledge(1, 0, 1);
        Assert.Equal(Milliseconds(5), _pace.First());
    }

    [Fact]
    public void The_first_wait_is_twice_the_time_of_an_acknowledgement_and_falls_by_halves()
    {
        Acknowledge(1, 0, 40);
        Assert.Equal(Milliseconds(80), _pace.First());
        Acknowledge(2, 1000, 20);
        Assert.Equal(Milliseconds(60), _pace.First());
        Acknowledge(3, 2000, 1000);
        Assert.Equal(Milliseconds(250), _pace.First());
    }

    [Fact]
    public void An_acknowledgement_of_less_than_the_packet_timed_gives_no_time()
    {
        _pace.OnSent(7, Milliseconds(0));
        _pace.OnSent(8, Milliseconds(30));
        _pace.OnAcknowledged(6, Milliseconds(35));
        Assert.Equal(Milliseconds(5), _pace.First());
        _pace.OnAcknowledged(8, Milliseconds(40));
        Assert.Equal(Milliseconds(80), _pace.First());
    }

    [Fact]
    public void After_an_announcement_the_first_wait_doubles_until_a_packet_needs_none()
    {
        foreach (int expected in new[] { 10, 20, 40, 80 })
        {
            _pace.OnSent(expected, Milliseconds(0));
            _pace.First();
            _pace.Next();
            _pace.OnAcknowledged(expected, Milliseconds(200));
            Assert.Equal(Milliseconds(expected), _pace.First());
        }

        Acknowledge(100, 0, 8);
        Assert.Equal(Milliseconds(16), _pace.First());
    }

    [Fact]
    public void While_no_acknowledgement_comes_further_packets_do_not_begin_the_time_again()
    {
        _pace.OnSent(1, Milliseconds(0));
        _pace.First();
        _pace.Next();
        Assert.Equal(Milliseconds(20), _pace.Next());
        _pace.OnSent(2, Milliseconds(30));
        Assert.Equal(Milliseconds(20), _pace.First());
        Assert.Equal(Milliseconds(40), _pace.Next());
        _pace.OnAcknowledged(2, Milliseconds(60));
        _pace.OnSent(3, Milliseconds(90));
        Assert.Equal(Milliseconds(10), _pace.First());
    }
}
