using System.Net;
using QuickSilver.Membership.Client.Discovery;
using QuickSilver.Membership.Tests.Infrastructure;

namespace QuickSilver.Membership.Tests.Client.Discovery;

// T3, with certificates: which of many that datagrams name is tried.
public sealed class HostCandidatesTests
{
    private const int Rounds = 2_000;
    private static readonly IPEndPoint True = new(IPAddress.Loopback, 1);

    private readonly HostCandidates _candidates = new(new FakeWorld().AddNode(5));

    [Theory]
    [InlineData(0)]
    [InlineData(47)]
    [InlineData(63)]
    public void Each_candidate_is_kept_as_often_whenever_it_came(int before)
    {
        const int All = 4 * HostCandidates.Most;
        int kept = 0;
        for (int round = 0; round < Rounds; round++)
        {
            for (int i = 0; i < All; i++)
            {
                _candidates.Add(i == before ? True : new IPEndPoint(IPAddress.Loopback, 2 + i));
            }

            kept += TakeAll().Count(True.Equals);
        }

        // A fourth, within six standard deviations.
        Assert.InRange(kept, Rounds / 4 - 120, Rounds / 4 + 120);
    }

    [Fact]
    public void A_candidate_that_comes_again_has_no_second_place()
    {
        _candidates.Add(True);
        _candidates.Add(True);
        Assert.Equal([True], TakeAll());
    }

    [Fact]
    public void No_more_are_kept_than_the_limit()
    {
        for (int i = 1; i <= 1_000; i++)
        {
            _candidates.Add(new IPEndPoint(IPAddress.Loopback, i));
        }

        Assert.Equal(HostCandidates.Most, TakeAll().Distinct().Count());
    }

    // Which of those kept is taken must not depend on when it came.
    [Fact]
    public void The_first_candidate_is_chosen_at_random()
    {
        int first = 0;
        for (int round = 0; round < Rounds; round++)
        {
            for (int i = 1; i <= 8; i++)
            {
                _candidates.Add(new IPEndPoint(IPAddress.Loopback, i));
            }

            first += TakeAll()[0].Equals(True) ? 1 : 0;
        }

        Assert.InRange(first, Rounds / 8 - 90, Rounds / 8 + 90);
    }

    private List<IPEndPoint> TakeAll()
    {
        var taken = new List<IPEndPoint>();
        while (_candidates.Count > 0)
        {
            taken.Add(_candidates.Take());
        }

        return taken;
    }
}
