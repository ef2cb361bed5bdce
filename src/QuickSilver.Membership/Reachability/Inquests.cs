using System.Collections.Immutable;
using System.Net;
using QuickSilver.Core.Alarms;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Regions;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Reachability;

// Runs an inquest for each suspect: asks its parties once a round whom they reach, and acts on its rulings.
internal sealed class Inquests(
    SessionContext context, Inquiries inquiries, IMemberRoll roll, RemovedAddresses removed, ReachAdvice advice, TimeSpan round)
    : IDisposable
{
    // A report beyond these waits until one is over; it is repeated as long as it holds. One reporter begins few, so that it cannot
    // take the place of all others.
    private const int MaxOpen = 32;
    private const int MaxOpenOfReporter = 4;
    private const double WaitShare = 0.8;
    // Who says nothing to the service either may stand still: that is for the failure detector, which gives it its heartbeats.
    private const int RoundsOfSilence = 3;

    private readonly Dictionary<NodeKey, Case> _open = [];

    private sealed record Case(Inquest Inquest, NodeKey BegunBy, Alarm Alarm);

    public int Open => _open.Count;

    /// <summary>True for the first report of this suspect by this reporter in an inquest.</summary>
    public bool OnSuspect(Member reporter, Member suspect, RegionTie tie)
    {
        var now = context.Environment.Now;
        if (_open.TryGetValue(reporter.Key, out var own))
        {
            AddSuspectedBy(own.Inquest, suspect.Key, now);
        }

        if (_open.TryGetValue(suspect.Key, out var known))
        {
            bool isNew = known.Inquest.Find(reporter.Key) is not { IsReporter: true };
            known.Inquest.Report(reporter.Key, reporter.Info.JoinOrder, now, tie == RegionTie.Neighbour);
            return isNew;
        }

        if (_open.Count >= MaxOpen || _open.Values.Count(one => one.BegunBy == reporter.Key) >= MaxOpenOfReporter)
        {
            return false;
        }

        Begin(reporter, suspect, now, tie);
        return true;
    }

    /// <summary>It is no member any more: it has nothing to say, and nobody waits for it.</summary>
    public void OnRemoved(NodeKey node)
    {
        End(node);
        foreach (var one in _open.Values)
        {
            one.Inquest.Remove(node);
        }
    }

    /// <summary>A member has stood still: what others did not hear of it meanwhile counts no more.</summary>
    public void Excuse(NodeKey node)
    {
        foreach (var one in _open.Values)
        {
            one.Inquest.Excuse(node, context.Environment.Now);
        }
    }

    /// <summary>The service itself stood still for so long, and has not read what was found meanwhile.</summary>
    public void OnPause(TimeSpan length)
    {
        foreach (var one in _open.Values)
        {
            one.Inquest.OnPause(length, context.Environment.Now);
        }
    }

    public void Dispose()
    {
        foreach (var one in _open.Values)
        {
            context.Environment.Cancel(one.Alarm);
        }

        _open.Clear();
    }

    private void Begin(Member reporter, Member suspect, TimeSpan now, RegionTie tie)
    {
        var inquest = new Inquest(suspect.Key, round);
        inquest.AddSuspect(suspect.Info.JoinOrder, now);
        inquest.Report(reporter.Key, reporter.Info.JoinOrder, now, tie == RegionTie.Neighbour);
        AddWitnesses(inquest, Inquest.Witnesses, now);
        foreach (var other in _open.Values)
        {
            if (other.Inquest.Find(suspect.Key) is { IsReporter: true })
            {
                AddSuspectedBy(inquest, other.Inquest.Suspect, now);
            }
        }

        var one = new Case(inquest, reporter.Key, new Alarm(() => OnRound(inquest)));
        _open.Add(suspect.Key, one);
        context.Counters.Inquests++;
        OnRound(inquest);
    }

    // Members by lot, from the next on that is not a party yet.
    private void AddWitnesses(Inquest inquest, int count, TimeSpan now)
    {
        var members = roll.Members;
        int most = Math.Min(Math.Min(inquest.Parties.Count + count, Inquest.MaxParties), members.Count);
        while (inquest.Parties.Count < most)
        {
            int at = (int)(context.Environment.NextRandom() % (ulong)members.Count);
            while (inquest.Find(members[at].Key) is not null)
            {
                at = (at + 1) % members.Count;
            }

            inquest.AddWitness(members[at].Key, members[at].Info.JoinOrder, now);
        }
    }

    // A suspect that itself waits for another may be blamed for what that one does.
    private void AddSuspectedBy(Inquest inquest, NodeKey other, TimeSpan now)
    {
        if (inquest.Parties.Count < Inquest.MaxParties && roll.Find(other) is { } member)
        {
            inquest.AddWitness(member.Key, member.Info.JoinOrder, now);
        }
    }

    private void End(NodeKey suspect)
    {
        if (_open.Remove(suspect, out var one))
        {
            context.Environment.Cancel(one.Alarm);
        }
    }

    private void OnRound(Inquest inquest)
    {
        var now = context.Environment.Now;
        var ruling = inquest.Judge(roll.Members.Count, now);
        if (ruling.Kind == RulingKind.Over)
        {
            End(inquest.Suspect);
            return;
        }

        if (ruling.Kind == RulingKind.Tied)
        {
            inquest.Widen(now);
            AddWitnesses(inquest, Inquest.MaxParties, now);
        }
        else if (ruling.Kind != RulingKind.Open && roll.Find(ruling.Guilty) is { } guilty
            && now - guilty.LastHeard < round * RoundsOfSilence)
        {
            // First: whoever goes is taken out of all inquests, and this one ends with its suspect or goes on without its reporter.
            context.Environment.Schedule(_open[inquest.Suspect].Alarm, round);
            Remove(guilty, inquest, ruling);
            return;
        }

        foreach (var party in inquest.Parties)
        {
            Ask(inquest, party.Key);
        }

        context.Environment.Schedule(_open[inquest.Suspect].Alarm, round);
    }

    private void Ask(Inquest inquest, NodeKey party)
    {
        if (roll.Find(party) is not { Session: { } session })
        {
            return;
        }

        var others = new List<NodeKey>();
        var targets = ImmutableArray.CreateBuilder<IPEndPoint>();
        foreach (var other in inquest.Parties)
        {
            if (other.Key != party && roll.Find(other.Key) is { } member)
            {
                others.Add(other.Key);
                targets.Add(member.Info.EndPoint);
            }
        }

        inquiries.Ask(
            session,
            targets.DrainToImmutable(),
            round * WaitShare,
            findings =>
            {
                int met = others.Count(node => findings.Reaches(others.IndexOf(node)));
                context.Logger.Found(roll.Named(party), met, others.Count, roll.Named(inquest.Suspect));
                inquest.OnFound(party, others, findings, context.Environment.Now);
            });
    }

    private void Remove(Member guilty, Inquest inquest, Ruling ruling)
    {
        foreach (var one in _open.Values)
        {
            one.Inquest.RestartReports(context.Environment.Now);
        }

        if (ruling.Kind == RulingKind.Useless)
        {
            string why = $"{ruling.Met} ring neighbours have had no answer from it for a long time, although it answers echoes";
            roll.RemoveUnreachable(guilty, why);
            return;
        }

        context.Counters.NodesUnreachable++;
        removed.Add(guilty.Info.EndPoint.Address, ruling.Unmet, context.Environment.Now);
        roll.RemoveUnreachable(guilty, Reason(guilty, inquest, ruling));
    }

    private string Reason(Member guilty, Inquest inquest, Ruling ruling)
    {
        int others = inquest.Parties.Count - 1;
        if (ruling.Kind == RulingKind.Lossy)
        {
            return $"datagrams are lost between it ({guilty.Info.EndPoint}) and {ruling.Unmet.Count} of {others} other probed members,"
                + $" and {ruling.Met} ring neighbours have had no answer for a long time; {advice.For(guilty.Info.EndPoint)}";
        }

        return $"no datagram passes between it ({guilty.Info.EndPoint}) and {ruling.Unmet.Count} of {others} other probed members,"
            + $" although its connection to the service works; {advice.For(guilty.Info.EndPoint)}";
    }
}
