using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Pacing;
using QuickSilver.Multicast.Repair;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Repair.Pulls;

// How long a member waits for an answer, and how much it asks for at a time.
public sealed class PullPaceTests
{
    private const int MostAskedFor = 4096;
    private const int LeastAskedFor = 64;

    private readonly LoneMember _member = new(members: 3, rank: 1) { OthersHoldAll = true };

    private MulticastOptions Options => _member.Options;

    [Fact]
    public void Waits_for_answers_double_to_a_bound_of_each_asked()
    {
        // Of members the waits are 3 and 6 ms; then the sender is asked, whose answers may take as long.
        Assert.Equal([3, 6, 12, 24, 48, 96, 192, 250, 250], Waits(9, random: 0));
    }

    [Fact]
    public void A_jitter_of_at_most_a_quarter_is_added()
    {
        var waits = Waits(9, random: ulong.MaxValue / 3);

        double[] least = [3, 6, 12, 24, 48, 96, 192, 250, 250];
        Assert.All(waits.Zip(least), pair => Assert.InRange(pair.First, pair.Second, (pair.Second * 1.25) + 1));
        Assert.NotEqual(least, waits);
    }

    [Fact]
    public void No_more_than_the_oldest_so_many_are_asked_for_at_a_time()
    {
        _member.Receive(1, 6_000);
        _member.Advance(Options.ReorderWindow);

        Assert.Equal(MostAskedFor, Numbers());
    }

    [Fact]
    public void Less_is_asked_for_when_much_of_it_is_late()
    {
        _member.Receive(1, 6_000);
        _member.Advance(Options.ReorderWindow);
        Numbers();

        // Nothing of it comes; all of it is late, and is asked for once more. After that it is the least.
        _member.Advance(Options.PullRepeat);
        Assert.Equal(MostAskedFor, Numbers());
        _member.Advance(Options.PullRepeat * 2);
        Assert.Equal(LeastAskedFor, Numbers());
    }

    [Fact]
    public void Answers_in_time_let_more_be_requested_again()
    {
        _member.Receive(1, 6_000);
        _member.Advance(20);
        Numbers();
        Receive(first: 2, count: MostAskedFor);
        _member.Advance(TimeSpan.Zero);
        long next = MostAskedFor + 2;
        for (int asked = LeastAskedFor; asked <= LeastAskedFor * 8; asked *= 2)
        {
            Assert.Equal(asked, Numbers());
            Receive(next, asked);
            next += asked;
            _member.Advance(TimeSpan.Zero);
        }
    }

    [Fact]
    public void All_is_asked_for_at_once_after_a_decision()
    {
        _member.Receive(1, 3, 5);
        _member.Advance(1_000);
        Numbers();

        _member.Region.AskAnew(_member.Stream);
        _member.Advance(TimeSpan.Zero);

        Assert.Equal(2, Numbers());
    }

    [Fact]
    public void A_member_that_answers_quickly_is_asked_again_soon_and_one_that_does_not_late()
    {
        Assert.Equal(Options.PullRepeatMin, RepeatAfterAnswers(TimeSpan.FromMilliseconds(0.01)));
        Assert.InRange(RepeatAfterAnswers(TimeSpan.FromMilliseconds(2)).TotalMilliseconds, 2, 6);
    }

    [Fact]
    public void One_that_never_answers_a_first_request_in_time_is_given_longer_until_it_does()
    {
        var clock = new PullClock(Options);
        var now = _member.Environment.Now;
        Assert.Equal(Options.PullRepeat, clock.Wait(1));

        clock.OnLate(now, now + Options.PullRepeat);
        Assert.Equal(Options.PullRepeat * 2, clock.Wait(1));
        // Asked for before that came late: it counts once.
        clock.OnLate(now, now + Options.PullRepeat);
        Assert.Equal(Options.PullRepeat * 2, clock.Wait(1));

        for (int i = 1; i < 10; i++)
        {
            clock.OnLate(now + (Options.PullRepeat * i), now + (Options.PullRepeat * i));
        }

        Assert.Equal(Options.PullRepeat * 4, clock.Wait(1));
        clock.OnAnswer(TimeSpan.FromMilliseconds(1), asked: 1);
        Assert.True(clock.Wait(1) < Options.PullRepeat * 2);
    }

    [Fact]
    public void The_answer_to_a_repeated_request_counts_only_where_it_took_longer_than_is_known()
    {
        var clock = new PullClock(Options);
        clock.OnAnswer(TimeSpan.FromMilliseconds(10), asked: 1);
        var wait = clock.Wait(1);

        clock.OnAnswer(TimeSpan.FromMilliseconds(1), asked: 2);
        Assert.Equal(wait, clock.Wait(1));

        clock.OnAnswer(TimeSpan.FromMilliseconds(40), asked: 2);
        Assert.True(clock.Wait(1) > wait);
    }

    // The times between requests for one packet that does not come.
    private List<double> Waits(int count, ulong random)
    {
        _member.Environment.Random = random;
        _member.Receive(1, 3);
        _member.Advance(Options.ReorderWindow);
        Assert.Equal(1, Numbers());
        var waits = new List<double>();
        var last = _member.Environment.Now;
        while (waits.Count < count)
        {
            Assert.True(_member.Environment.Now - last < TimeSpan.FromSeconds(1));
            _member.Advance(0.25);
            if (Numbers() > 0)
            {
                waits.Add((_member.Environment.Now - last).TotalMilliseconds);
                last = _member.Environment.Now;
            }
        }

        return waits;
    }

    // The wait after a first request where answers have taken so long.
    private TimeSpan RepeatAfterAnswers(TimeSpan taken)
    {
        var member = new LoneMember(members: 3, rank: 1) { OthersHoldAll = true };
        for (int i = 0; i < 50; i++)
        {
            member.Receive((3 * i) + 1, (3 * i) + 3);
            member.Advance(Options.ReorderWindow);
            member.Advance(taken);
            member.Receive((3 * i) + 2);
        }

        return member.Region.PullClock.Wait(1);
    }

    private void Receive(long first, int count) => _member.Receive([.. Enumerable.Range((int)first, count).Select(n => (long)n)]);

    // How many packets were asked for.
    private long Numbers()
    {
        long numbers = 0;
        foreach (var packet in _member.Port.Take(PacketKind.Pull))
        {
            Assert.True(PullRequest.TryRead(packet.Body, out _, out int count));
            for (int i = 0; i < count; i++)
            {
                var (first, last) = PullRequest.Range(packet.Body, i);
                numbers += last - first + 1;
            }
        }

        return numbers;
    }
}
