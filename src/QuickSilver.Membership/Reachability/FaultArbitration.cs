using QuickSilver.Core.Environment;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Reachability;

// Determines which member is faulty when one does not hear another, although both speak to the service. Pure: it gets the findings of each
// party and is asked for its ruling, with the time.
//
// Intuition (SWIM, Lifeguard): a member that does not hear another may be deaf itself. So the two are tried with each other and with some
// witnesses chosen at random, all pairs in several rounds, and with the service's own echo. The one that has met fewest is faulty.
//
// Application: a suspect, its reporters, and witnesses are added. In each round every party tries all others, and OnFound takes the
// results. A pair that has met once within the standing time is up. One that was tried for as long without meeting is down. If a pair of
// suspect and reporter is down, one of both is removed: the one with more pairs down; then the one with fewer up, the one that the
// service's echo does not reach (after it those on the service's machine), the one that loses more, the newer one. While both have as many
// of each, as many witnesses are added as may be: of two, only one may be cut off from many. If the pair meets, the arbitration is over
// when the reports end. If two reporters report for long, the suspect answers echoes but not its rings, and is removed for that. But the
// leader of a ring is blamed for each member that loses its tokens: if another party loses notably more echoes, that one is removed. The
// members that the suspect itself reports are parties. A suspect that loses notably more than all others is removed after one report.
// Notably means more than chance explains: on a network that loses a part of all datagrams, some member has always lost the most of a few
// echoes.
//
// What goes wrong: all datagrams fail at once (a switch that restarts). Then no party has met another, and a removal would hit a healthy
// member. So one party must have shown that datagrams pass at it, or none is removed. Two lone members that do not reach the service's echo
// either would wait forever: there the newer one is removed after a longer time.
internal sealed class FaultArbitration(NodeKey suspect, TimeSpan round)
{
    public const int MaxReporters = 3;
    public const int Witnesses = 3;
    public const int MaxParties = 16;

    // A pause of a machine or a burst of losses spans some rounds; beyond that it is no use to its rings.
    private const int RoundsStanding = 4;
    // Findings come once a round, and late from a busy machine.
    private const int RoundsToAnswer = 2;
    private const int RoundsOfSilent = 2 * RoundsStanding;
    private const int RoundsOfTwoAlone = 3 * RoundsStanding;
    // A report is repeated at least so often as long as it holds: a ring without tokens looks about once in a heartbeat.
    private const int RoundsToRepeat = 4;
    private const int RoundsUseless = 10;
    private const int ReportersOfUseless = 2;
    // Of the echoes tried with it, what one loses that is at fault in place of the suspect: so many parts of them, and as many times what
    // the suspect loses, which loses those with the other too.
    private const int LossyPart = 8;
    private const double LossyTimes = 1.5;
    // In standard deviations, how far its losses are above those of the others among themselves.
    private const double Deviations = 5;

    private readonly List<Party> _parties = [];
    private readonly Dictionary<(NodeKey, NodeKey), TimeSpan> _met = [];
    private readonly HashSet<(NodeKey, NodeKey)> _lost = [];
    private TimeSpan _widenedAt = TimeSpan.MinValue / 2;

    // The later, the less it speaks against a party.
    private enum ServiceEcho
    {
        Lost,
        // It would show nothing of the network.
        NotTried,
        Met,
    }

    public sealed class Party(NodeKey key, long joinOrder, bool isReporter, TimeSpan since)
    {
        public NodeKey Key { get; } = key;
        public long JoinOrder { get; } = joinOrder;
        public bool IsReporter { get; set; } = isReporter;
        // Its word counts even if the suspect answers echoes.
        public bool IsNeighbour { get; set; }
        public TimeSpan ReportsSince { get; set; } = since;
        public TimeSpan ReportedAt { get; set; } = since;
        public TimeSpan Since { get; set; } = since;
        public TimeSpan? AnsweredAt { get; set; }
        public TimeSpan? MetServiceAt { get; set; }
        public bool IsBesideService { get; set; }
        // First echoes of a round between it and another, and those that were lost.
        public long Tried { get; set; }
        public long Missed { get; set; }
    }

    public NodeKey Suspect { get; } = suspect;

    public IReadOnlyList<Party> Parties => _parties;

    private TimeSpan Standing => round * RoundsStanding;

    public Party? Find(NodeKey node) => _parties.Find(party => party.Key == node);

    public void AddSuspect(long joinOrder, TimeSpan now) => Add(Suspect, joinOrder, isReporter: false, now);

    public void AddWitness(NodeKey node, long joinOrder, TimeSpan now) => Add(node, joinOrder, isReporter: false, now);

    /// <summary>More witnesses were added: nothing is decided before they were tried as long as the others.</summary>
    public void Widen(TimeSpan now) => _widenedAt = now;

    /// <param name="reporter">The member that reports the suspect.</param>
    /// <param name="joinOrder">Its place in the order of joining.</param>
    /// <param name="now">The time.</param>
    /// <param name="isNeighbour">Whether it is a member of a region of the suspect.</param>
    public void Report(NodeKey reporter, long joinOrder, TimeSpan now, bool isNeighbour = true)
    {
        if (Find(reporter) is { } known)
        {
            bool isRepeated = known.IsReporter && now - known.ReportedAt <= round * RoundsToRepeat;
            known.ReportsSince = isRepeated ? known.ReportsSince : now;
            known.ReportedAt = now;
            known.IsReporter = true;
        }
        else if (_parties.Count < MaxParties && _parties.Count(party => party.IsReporter) < MaxReporters)
        {
            Add(reporter, joinOrder, isReporter: true, now);
        }

        if (Find(reporter) is { } party)
        {
            party.IsNeighbour = isNeighbour;
        }
    }

    /// <summary>It is no member any more.</summary>
    public void Remove(NodeKey node) => _parties.RemoveAll(party => party.Key == node);

    /// <summary>
    /// A member was removed that may have broken the rings which the suspect is blamed for: what was said before counts no more.
    /// </summary>
    public void RestartReports(TimeSpan now) => _parties.ForEach(party => party.ReportsSince = now);

    /// <summary>A party has stood still. It is tried again from the start, and reports of it and lost echoes count from now on.</summary>
    public void Excuse(NodeKey node, TimeSpan now)
    {
        if (Find(node) is not { } excused)
        {
            return;
        }

        excused.Since = now;
        _lost.RemoveWhere(pair => pair.Item1 == node || pair.Item2 == node);
        // Those lost with it were counted for the others too.
        foreach (var party in _parties)
        {
            party.Tried = party.Missed = 0;
        }

        if (node == Suspect)
        {
            RestartReports(now);
        }
    }

    /// <summary>The service stood still for this time: the arbitration is older by that, and its findings are not.</summary>
    public void OnPause(TimeSpan length, TimeSpan now)
    {
        _widenedAt = Later(_widenedAt);
        foreach (var party in _parties)
        {
            party.Since = Later(party.Since);
            party.ReportsSince = Later(party.ReportsSince);
            party.ReportedAt = Later(party.ReportedAt);
            party.AnsweredAt = party.AnsweredAt is { } answered ? Later(answered) : null;
            party.MetServiceAt = party.MetServiceAt is { } met ? Later(met) : null;
        }

        foreach (var pair in _met.Keys)
        {
            _met[pair] = Later(_met[pair]);
        }

        TimeSpan Later(TimeSpan time) => Pause.LeaveOut(length, time, now);
    }

    /// <summary>What one party found of those that it was asked about, in that order.</summary>
    public void OnFound(NodeKey node, IReadOnlyList<NodeKey> asked, Findings found, TimeSpan now)
    {
        if (Find(node) is not { } party)
        {
            return;
        }

        party.AnsweredAt = now;
        party.MetServiceAt = found.IsServiceReached ? now : party.MetServiceAt;
        party.IsBesideService = found.IsBesideService;
        for (int i = 0; i < asked.Count; i++)
        {
            bool isReached = found.Reaches(i);
            bool isReachedAtOnce = found.ReachesAtOnce(i);
            var pair = Pair(node, asked[i]);
            Count(party, isReachedAtOnce);
            Count(Find(asked[i]), isReachedAtOnce);
            if (isReached)
            {
                _met[pair] = now;
            }

            if (!isReachedAtOnce)
            {
                _lost.Add(pair);
            }
        }
    }

    /// <param name="members">How many there are: where all of them are parties, more witnesses are not to be had.</param>
    /// <param name="now">The time.</param>
    public Ruling Judge(int members, TimeSpan now)
    {
        if (Find(Suspect) is not { } suspect)
        {
            return Ruling.Over;
        }

        bool isAnyOpen = false;
        int standing = 0;
        foreach (var reporter in _parties)
        {
            if (!reporter.IsReporter || reporter == suspect || now - reporter.ReportedAt > round * RoundsToRepeat)
            {
                continue;
            }

            if (IsDown(suspect, reporter, now))
            {
                return Decide(suspect, reporter, members, now);
            }

            isAnyOpen = true;
            bool isUseless = reporter.IsNeighbour && HasMet(suspect, reporter, now) && now - reporter.ReportsSince >= round * RoundsUseless;
            standing += isUseless ? 1 : 0;
        }

        bool isUselessToAll = standing >= ReportersOfUseless;
        return (standing > 0 ? FindLossy(suspect, standing, now) : null)
            ?? (isUselessToAll && !IsAnotherSilent(suspect, now) ? new Ruling(RulingKind.Useless, Suspect, [], standing)
            : isAnyOpen ? Ruling.Open
            : Ruling.Over);
    }

    private Ruling? FindLossy(Party suspect, int standing, TimeSpan now)
    {
        var lossy = Lossiest(suspect, party => IsAnswering(party, now));
        if (!IsClear(lossy, suspect) || (lossy != suspect && standing < ReportersOfUseless))
        {
            return null;
        }

        NodeKey[] unmet = [.. _parties.Select(party => party.Key).Where(other => _lost.Contains(Pair(lossy.Key, other)))];
        return new Ruling(RulingKind.Lossy, lossy.Key, unmet, standing);
    }

    // Whether a party that is silent now loses so much that it would be removed in place of the suspect. It is removed when it answers
    // again, as a slow party does late. If it stays silent, the failure detector removes it, and reports of the suspect start again.
    private bool IsAnotherSilent(Party suspect, TimeSpan now)
    {
        var lossy = Lossiest(suspect, static _ => true);
        return lossy != suspect && !IsAnswering(lossy, now) && IsClear(lossy, suspect);
    }

    private Party Lossiest(Party suspect, Predicate<Party> counts)
    {
        var lossy = suspect;
        foreach (var party in _parties)
        {
            lossy = counts(party) && party.Missed * lossy.Tried > lossy.Missed * party.Tried ? party : lossy;
        }

        return lossy;
    }

    // One that goes in place of the suspect loses more than the suspect; a suspect that goes, more than everybody.
    private bool IsClear(Party lossy, Party suspect)
    {
        var others = lossy != suspect ? [suspect] : _parties.Where(other => other != suspect);
        return lossy.Missed > 0 && lossy.Missed * LossyPart >= lossy.Tried
            && others.All(other => lossy.Missed * other.Tried >= LossyTimes * other.Missed * lossy.Tried)
            && IsBeyondChance(lossy);
    }

    // Each echo counts at both of its ends, so what the others have lost with it can be taken out.
    private bool IsBeyondChance(Party lossy)
    {
        long tried = 0;
        long missed = 0;
        foreach (var party in _parties)
        {
            (tried, missed) = party == lossy ? (tried, missed) : (tried + party.Tried, missed + party.Missed);
        }

        double echoes = (tried - lossy.Tried) / 2.0;
        double lost = (missed - lossy.Missed) / 2.0;
        if (echoes <= 0)
        {
            return false;
        }

        double share = (lossy.Missed + lost) / (lossy.Tried + echoes);
        double deviation = Math.Sqrt(share * (1 - share) * ((1.0 / lossy.Tried) + (1 / echoes)));
        return ((double)lossy.Missed / lossy.Tried) - (lost / echoes) >= Deviations * deviation;
    }

    private Ruling Decide(Party suspect, Party reporter, int members, TimeSpan now)
    {
        if (now - _widenedAt < Standing)
        {
            return Ruling.Open;
        }

        var a = Weigh(suspect, now);
        var b = Weigh(reporter, now);
        int order = b.Down.Count.CompareTo(a.Down.Count);
        order = order != 0 ? order : a.Up.CompareTo(b.Up);
        if (order == 0 && _parties.Count < Math.Min(members, MaxParties))
        {
            return Ruling.Tied;
        }

        order = order != 0 ? order : a.Service.CompareTo(b.Service);
        order = order != 0 ? order : (reporter.Missed * suspect.Tried).CompareTo(suspect.Missed * reporter.Tried);
        order = order != 0 ? order : reporter.JoinOrder.CompareTo(suspect.JoinOrder);
        bool isSuspect = order < 0;
        var (guilty, kept) = isSuspect ? (a, b) : (b, a);
        bool isShown = kept.Up > 0 || kept.Service == ServiceEcho.Met
            || (_parties.Count == 2 && now - reporter.Since >= round * RoundsOfTwoAlone);
        // One that stands still is silent everywhere: the failure detector gives it its time.
        bool isAwake = IsAnswering(isSuspect ? suspect : reporter, now) || now - reporter.Since >= round * RoundsOfSilent;
        return isShown && isAwake
            ? new Ruling(RulingKind.Guilty, isSuspect ? suspect.Key : reporter.Key, [.. guilty.Down], guilty.Up)
            : Ruling.Open;
    }

    private (List<NodeKey> Down, int Up, ServiceEcho Service) Weigh(Party party, TimeSpan now)
    {
        var down = new List<NodeKey>();
        int up = 0;
        foreach (var other in _parties)
        {
            if (other != party)
            {
                up += HasMet(party, other, now) ? 1 : 0;
                if (IsDown(party, other, now))
                {
                    down.Add(other.Key);
                }
            }
        }

        bool isMet = party.MetServiceAt is { } at && now - at <= Standing;
        return (down, up, isMet ? ServiceEcho.Met : party.IsBesideService ? ServiceEcho.NotTried : ServiceEcho.Lost);
    }

    private bool HasMet(Party a, Party b, TimeSpan now) => _met.TryGetValue(Pair(a.Key, b.Key), out var at) && now - at <= Standing;

    // The silence of a party proves nothing here. It is the failure detector's.
    private bool IsDown(Party a, Party b, TimeSpan now)
    {
        var since = a.Since > b.Since ? a.Since : b.Since;
        return now - since >= Standing && !HasMet(a, b, now) && (IsAnswering(a, now) || IsAnswering(b, now));
    }

    private bool IsAnswering(Party party, TimeSpan now) => party.AnsweredAt is { } at && now - at <= round * RoundsToAnswer;

    private static void Count(Party? party, bool isReached)
    {
        if (party is not null)
        {
            party.Tried++;
            party.Missed += isReached ? 0 : 1;
        }
    }

    private void Add(NodeKey node, long joinOrder, bool isReporter, TimeSpan now)
    {
        if (Find(node) is null)
        {
            _parties.Add(new Party(node, joinOrder, isReporter, now));
        }
    }

    private static (NodeKey, NodeKey) Pair(NodeKey a, NodeKey b) => a.CompareTo(b) < 0 ? (a, b) : (b, a);
}

internal enum RulingKind
{
    // Not decided yet.
    Open,
    // More witnesses may decide it.
    Tied,
    // The suspect is gone, or no member reports it any more.
    Over,
    // Datagrams do not pass at one member: it is to be removed.
    Guilty,
    // The suspect answers echoes, and not its rings.
    Useless,
    // The suspect's rings stand still, and datagrams are lost at another member.
    Lossy,
}

// Unmet: the parties that no echo passes to or from; Met: how many others one does.
internal sealed record Ruling(RulingKind Kind, NodeKey Guilty, IReadOnlyList<NodeKey> Unmet, int Met)
{
    public static readonly Ruling Open = new(RulingKind.Open, default, [], 0);
    public static readonly Ruling Tied = new(RulingKind.Tied, default, [], 0);
    public static readonly Ruling Over = new(RulingKind.Over, default, [], 0);
}
