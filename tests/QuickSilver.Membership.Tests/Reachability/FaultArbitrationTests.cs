using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Reachability;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests.Reachability;

// Which member is at fault when one does not hear another.
public sealed class FaultArbitrationTests
{
    private static readonly TimeSpan Round = TimeSpan.FromSeconds(1);
    private static readonly NodeKey A = new(1, 1), B = new(2, 1), C = new(3, 1), D = new(4, 1), E = new(5, 1);
    private static readonly NodeKey[] Seven = [A, B, C, D, E, new(6, 1), new(7, 1)];

    private readonly HashSet<(NodeKey, NodeKey)> _cut = [];
    // Only the first echo of a round is lost.
    private readonly HashSet<(NodeKey, NodeKey)> _lost = [];
    private readonly HashSet<NodeKey> _withoutService = [];
    private readonly HashSet<NodeKey> _besideService = [];
    private readonly HashSet<NodeKey> _silent = [];
    private TimeSpan _now = Round * 100;
    private int _members;

    // The key's number is the order of joining: the higher is the newer.
    private FaultArbitration Begin(NodeKey suspect, NodeKey reporter, params NodeKey[] witnesses)
    {
        var arbitration = new FaultArbitration(suspect, Round);
        arbitration.AddSuspect((long)suspect.Id, _now);
        arbitration.Report(reporter, (long)reporter.Id, _now);
        Array.ForEach(witnesses, witness => arbitration.AddWitness(witness, (long)witness.Id, _now));
        return arbitration;
    }

    // All try all others in each round, and the reporters continue.
    private Ruling Pass(FaultArbitration arbitration, double rounds, params NodeKey[] reporters)
    {
        var ruling = arbitration.Judge(_members, _now);
        for (double passed = 0; passed < rounds && ruling.Kind == RulingKind.Open; passed++)
        {
            foreach (var party in arbitration.Parties.Select(party => party.Key).Where(party => !_silent.Contains(party)).ToArray())
            {
                NodeKey[] others = [.. arbitration.Parties.Select(other => other.Key).Where(other => other != party)];
                ulong reached = 0;
                ulong first = 0;
                for (int i = 0; i < others.Length; i++)
                {
                    bool isCut = _cut.Contains((party, others[i])) || _cut.Contains((others[i], party)) || _silent.Contains(others[i]);
                    reached |= isCut ? 0 : 1UL << i;
                    first |= isCut || _lost.Contains((party, others[i])) ? 0 : 1UL << i;
                }

                bool isBeside = _besideService.Contains(party);
                bool isServiceReached = !isBeside && !_withoutService.Contains(party);
                arbitration.OnFound(party, others, new Findings(new EchoesAnswered(reached, first), isServiceReached, isBeside), _now);
            }

            _now += Round;
            Array.ForEach(reporters, reporter => arbitration.Report(reporter, (long)reporter.Id, _now));
            ruling = arbitration.Judge(_members, _now);
        }

        return ruling;
    }

    private void Lose(Random random, Func<NodeKey, NodeKey, double> share)
    {
        _lost.Clear();
        foreach (var one in Seven)
        {
            _lost.UnionWith(Seven.Where(other => random.NextDouble() < share(one, other)).Select(other => (one, other)));
        }
    }

    private void Cut(NodeKey node, params NodeKey[] others) => Array.ForEach(others, other => _cut.Add((node, other)));

    [Fact]
    public void A_suspect_that_no_party_meets_is_removed_after_four_rounds_and_not_before()
    {
        var arbitration = Begin(A, B, C, D, E);
        Cut(A, B, C, D, E);
        _withoutService.Add(A);
        Assert.Equal(RulingKind.Open, Pass(arbitration, 3, B).Kind);
        var ruling = Pass(arbitration, 1, B);
        Assert.Equal((RulingKind.Guilty, A), (ruling.Kind, ruling.Guilty));
        Assert.Equal([B, C, D, E], ruling.Unmet.Order());
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Of_two_on_each_side_those_on_the_machine_of_the_service_stay(bool isTheNewer)
    {
        (NodeKey[] stay, NodeKey[] go) = isTheNewer ? ([C, D], [A, B]) : ((NodeKey[])[A, B], (NodeKey[])[C, D]);
        Array.ForEach(stay, one => Cut(one, go));
        Array.ForEach(stay, one => _besideService.Add(one));
        Array.ForEach(go, one => _withoutService.Add(one));
        _members = 4;
        var arbitration = Begin(go[0], stay[0], stay[1], go[1]);
        var ruling = Pass(arbitration, 6, stay[0]);
        Assert.Equal((RulingKind.Guilty, go[0]), (ruling.Kind, ruling.Guilty));
        var other = Begin(stay[1], go[1], stay[0], go[0]);
        Assert.Equal((RulingKind.Guilty, go[1]), (Pass(other, 6, go[1]) is { } decided ? (decided.Kind, decided.Guilty) : default));
    }

    [Fact]
    public void A_suspect_that_stood_still_is_tried_again()
    {
        var arbitration = Begin(A, B, C, D, E);
        Cut(A, B, C, D, E);
        Pass(arbitration, 3, B);
        arbitration.Excuse(A, _now);
        Assert.Equal(RulingKind.Open, Pass(arbitration, 3, B).Kind);
        Assert.Equal((RulingKind.Guilty, A), (Pass(arbitration, 1, B) is { } ruling ? (ruling.Kind, ruling.Guilty) : default));
    }

    [Theory]
    [InlineData(true, RulingKind.Open)]
    [InlineData(false, RulingKind.Over)]
    public void The_findings_of_the_service_are_no_older_after_it_stood_still(bool isTold, object kind)
    {
        var arbitration = Begin(A, B, C, D, E);
        Pass(arbitration, 2, B);
        _now += Round * 30;
        if (isTold)
        {
            arbitration.OnPause(Round * 30, _now);
        }

        Assert.Equal(kind, arbitration.Judge(5, _now).Kind);
    }

    [Fact]
    public void A_reporter_that_hears_no_party_is_removed_instead_of_the_member_that_it_reports()
    {
        var arbitration = Begin(E, A, B, C, D);
        Cut(A, B, C, D, E);
        _withoutService.Add(A);
        var ruling = Pass(arbitration, 5, A);
        Assert.Equal((RulingKind.Guilty, A), (ruling.Kind, ruling.Guilty));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Of_two_nodes_alone_the_one_that_does_not_reach_the_service_is_removed(bool isSuspect)
    {
        var arbitration = Begin(A, B);
        Cut(A, B);
        _withoutService.Add(isSuspect ? A : B);
        Assert.Equal(isSuspect ? A : B, Pass(arbitration, 5, B).Guilty);
    }

    [Fact]
    public void Of_two_suspects_that_meet_all_others_the_newer_is_removed()
    {
        Cut(A, B);
        Assert.Equal(B, Pass(Begin(A, B, C, D, E), 5, B).Guilty);
        Assert.Equal(B, Pass(Begin(B, A, C, D, E), 5, A).Guilty);
    }

    // A meets two of the witnesses and five of the others not, so B goes by none of these.
    [Fact]
    public void More_witnesses_are_asked_when_the_first_prove_nothing()
    {
        var arbitration = Begin(A, B, C, D);
        NodeKey[] more = [.. Enumerable.Range(20, 5).Select(id => new NodeKey((ulong)id, 1))];
        Cut(A, [B, .. more]);
        _members = 9;
        Assert.Equal(RulingKind.Tied, Pass(arbitration, 5, B).Kind);
        arbitration.Widen(_now);
        Array.ForEach(more, witness => arbitration.AddWitness(witness, (long)witness.Id, _now));
        Assert.Equal(RulingKind.Open, Pass(arbitration, 3, B).Kind);
        Assert.Equal((RulingKind.Guilty, A), (Pass(arbitration, 2, B) is { } ruling ? (ruling.Kind, ruling.Guilty) : default));
    }

    [Fact]
    public void The_smaller_of_two_sides_is_removed()
    {
        Cut(A, C, D, E);
        Cut(B, C, D, E);
        Assert.Equal(A, Pass(Begin(C, A, B, D, E), 5, A).Guilty);
    }

    [Fact]
    public void When_no_party_meets_another_none_is_removed()
    {
        Cut(A, B, C, D);
        Cut(B, C, D);
        Cut(C, D);
        _withoutService.UnionWith([A, B, C, D]);
        Assert.Equal(RulingKind.Open, Pass(Begin(A, B, C, D), 60, B).Kind);
    }

    [Fact]
    public void Of_two_nodes_alone_that_do_not_reach_the_service_the_newer_is_removed_after_twelve_rounds()
    {
        Cut(A, B);
        _withoutService.UnionWith([A, B]);
        var arbitration = Begin(A, B);
        Assert.Equal(RulingKind.Open, Pass(arbitration, 11, B).Kind);
        Assert.Equal(B, Pass(arbitration, 1, B).Guilty);
    }

    [Fact]
    public void A_pair_that_met_once_in_four_rounds_is_not_down()
    {
        var arbitration = Begin(A, B, C, D);
        for (int round = 0; round < 9; round++)
        {
            _cut.Clear();
            if (round % 4 != 0)
            {
                Cut(A, B, C, D);
            }

            Assert.Equal(RulingKind.Open, Pass(arbitration, 1, B).Kind);
        }
    }

    [Fact]
    public void It_is_over_when_the_reports_end_or_the_suspect_is_gone()
    {
        Assert.Equal(RulingKind.Over, Pass(Begin(A, B, C, D), 6).Kind);
        var arbitration = Begin(A, B, C, D);
        arbitration.Remove(A);
        Assert.Equal(RulingKind.Over, arbitration.Judge(_members, _now).Kind);
        arbitration = Begin(A, B, C, D);
        arbitration.Remove(B);
        Assert.Equal(RulingKind.Over, arbitration.Judge(_members, _now).Kind);
    }

    [Fact]
    public void One_that_stands_still_is_given_twice_the_time()
    {
        _silent.Add(A);
        var arbitration = Begin(A, B, C, D);
        Assert.Equal(RulingKind.Open, Pass(arbitration, 7, B).Kind);
        Assert.Equal((RulingKind.Guilty, A), (Pass(arbitration, 1, B) is { } ruling ? (ruling.Kind, ruling.Guilty) : default));
    }

    [Fact]
    public void A_party_that_reports_no_findings_proves_nothing()
    {
        _silent.UnionWith([A, B]);
        Assert.Equal(RulingKind.Open, Pass(Begin(A, B, C, D), 20, B).Kind);
    }

    [Fact]
    public void A_suspect_that_meets_its_reporters_goes_when_two_of_them_continue_for_ten_rounds()
    {
        var arbitration = Begin(A, B, C, D);
        Assert.Equal(RulingKind.Open, Pass(arbitration, 9, B, C).Kind);
        Assert.Equal((RulingKind.Useless, A), (Pass(arbitration, 2, B, C) is { } ruling ? (ruling.Kind, ruling.Guilty) : default));
        Assert.Equal(RulingKind.Open, Pass(Begin(A, B, C, D), 30, B).Kind);
    }

    // The leader of a ring is missed by all when one of the others loses its tokens.
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void One_that_loses_every_other_datagram_goes_in_place_of_the_leader_that_is_missed(bool isReporter)
    {
        var arbitration = isReporter ? Begin(A, B, C, D) : Begin(A, C, D, B);
        NodeKey[] reporters = isReporter ? [B, C] : [C, D];
        var ruling = Ruling.Open;
        for (int i = 0; i < 12 && ruling.Kind == RulingKind.Open; i++)
        {
            _cut.Clear();
            Cut(B, i % 2 == 0 ? [A, C, D] : []);
            ruling = Pass(arbitration, 1, reporters);
        }

        Assert.Equal((RulingKind.Lossy, B), (ruling.Kind, ruling.Guilty));
        Assert.Equal([A, C, D], ruling.Unmet.Order());
    }

    [Fact]
    public void If_all_lose_the_same_the_suspect_is_removed()
    {
        var arbitration = Begin(A, B, C, D);
        var ruling = Ruling.Open;
        for (int i = 0; i < 12 && ruling.Kind == RulingKind.Open; i++)
        {
            _cut.Clear();
            Cut(A, i % 2 == 0 ? [B, C, D] : []);
            Cut(B, i % 2 == 0 ? [C, D] : []);
            Cut(C, i % 2 == 0 ? [D] : []);
            ruling = Pass(arbitration, 1, B, C);
        }

        Assert.Equal((RulingKind.Useless, A), (ruling.Kind, ruling.Guilty));
    }

    [Fact]
    public void One_reporter_is_enough_where_the_suspect_loses_every_other_datagram()
    {
        var arbitration = Begin(A, B, C, D);
        var ruling = Ruling.Open;
        for (int i = 0; i < 12 && ruling.Kind == RulingKind.Open; i++)
        {
            _cut.Clear();
            Cut(A, i % 2 == 0 ? [B, C, D] : []);
            ruling = Pass(arbitration, 1, B);
        }

        Assert.Equal((RulingKind.Lossy, A), (ruling.Kind, ruling.Guilty));
    }

    // A network that loses a tenth of all echoes, and members that stand still from time to time: one neighbour continues to report.
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Losses_by_chance_are_nobodys_fault(int seed)
    {
        var random = new Random(seed);
        var arbitration = Begin(A, B, Seven[2..]);
        for (int i = 0; i < 3_000; i++)
        {
            Lose(random, static (_, _) => 0.1);
            Assert.Equal(RulingKind.Open, Pass(arbitration, 1, B).Kind);
            if (random.Next(4) == 0)
            {
                // Not the suspect: its reports would begin again.
                arbitration.Excuse(Seven[1 + random.Next(6)], _now);
            }
        }
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void One_that_loses_half_is_found_where_the_network_loses_a_tenth(int seed)
    {
        var random = new Random(seed);
        var arbitration = Begin(A, B, Seven[2..]);
        var ruling = Ruling.Open;
        for (int i = 0; i < 14 && ruling.Kind == RulingKind.Open; i++)
        {
            Lose(random, static (one, other) => one == A || other == A ? 0.5 : 0.1);
            ruling = Pass(arbitration, 1, B);
        }

        Assert.Equal((RulingKind.Lossy, A), (ruling.Kind, ruling.Guilty));
    }

    [Fact]
    public void Reports_from_before_another_removal_do_not_count()
    {
        var arbitration = Begin(A, B, C, D);
        Assert.Equal(RulingKind.Open, Pass(arbitration, 9, B, C).Kind);
        arbitration.RestartReports(_now);
        Assert.Equal(RulingKind.Open, Pass(arbitration, 9, B, C).Kind);
        Assert.Equal(RulingKind.Useless, Pass(arbitration, 2, B, C).Kind);
    }

    [Fact]
    public void Reporters_and_witnesses_are_bounded()
    {
        var arbitration = Begin(A, B, C, D, E);
        for (ulong id = 10; id < 100; id++)
        {
            arbitration.Report(new NodeKey(id, 1), (long)id, _now);
        }

        Assert.True(arbitration.Parties.Count <= FaultArbitration.MaxParties);
    }

    [Fact]
    public void A_suspect_does_not_go_for_a_slow_member_of_which_no_party_has_heard_for_a_moment()
    {
        _members = 5;
        var arbitration = Begin(A, B, C, D, E);
        arbitration.Report(C, 3, _now);
        // Echoes to E are answered late, and what it found itself comes only from time to time.
        foreach (var other in new[] { A, B, C, D })
        {
            _lost.Add((other, E));
        }

        for (int round = 0; round < 12; round++)
        {
            if (round is 0 or 4)
            {
                _silent.Remove(E);
            }
            else
            {
                _silent.Add(E);
            }

            var ruling = Pass(arbitration, 1, B, C);
            Assert.NotEqual((RulingKind.Useless, A), (ruling.Kind, ruling.Guilty));
        }

        _silent.Remove(E);
        var last = Pass(arbitration, 5, B, C);
        Assert.Equal((RulingKind.Lossy, E), (last.Kind, last.Guilty));
    }
}
