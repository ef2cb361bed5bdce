using System.Collections.Immutable;
using System.Net;
using QuickSilver.Core.Alarms;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Reachability;
using QuickSilver.Membership.Regions;
using QuickSilver.Membership.Service.Sessions;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Service.Arbitration;

// Runs an arbitration for each suspect: asks its parties once a round which of the others they reach, and acts on its rulings.
internal sealed class FaultArbitrations(
    SessionContext context, Inquiries inquiries, IMemberRoll roll, RemovedAddresses removed, FirewallAdvice advice, TimeSpan round)
    : IDisposable
{
    // A report beyond these waits until one is over; it is repeated as long as it holds. One reporter begins few, so that it cannot
    // take the place of all others.
    private const int MaxOpen = 32;
    private const int MaxOpenOfReporter = 4;
    private const double WaitShare = 0.8;
    // A member that is silent to the service too may stand still. It is left to the failure detector, which waits for its heartbeats.
    private const int RoundsOfSilence = 3;

    private readonly Dictionary<NodeKey, Case> _open = [];

    private sealed record Case(FaultArbitration Arbitration, NodeKey BegunBy, Alarm Alarm);

    public int Open => _open.Count;

    /// <summary>True for the first report of this suspect by this reporter in an arbitration.</summary>
    public bool OnSuspect(Member reporter, Member suspect, RegionTie tie)
    {
        var now = context.Environment.Now;
        if (_open.TryGetValue(reporter.Key, out var own))
        {
            AddSuspectedBy(own.Arbitration, suspect.Key, now);
        }

        if (_open.TryGetValue(suspect.Key, out var known))
        {
            bool isNew = known.Arbitration.Find(reporter.Key) is not { IsReporter: true };
            known.Arbitration.Report(reporter.Key, reporter.Info.JoinOrder, now, tie == RegionTie.Neighbour);
            return isNew;
        }

        if (_open.Count >= MaxOpen || _open.Values.Count(one => one.BegunBy == reporter.Key) >= MaxOpenOfReporter)
        {
            return false;
        }

        Begin(reporter, suspect, now, tie);
        return true;
    }

    /// <summary>It is no longer a member: nothing is expected of it, and no member waits for it.</summary>
    /// <param name="node">The node.</param>
    /// <param name="hasLeft">It left in order, so no ring has waited for it.</param>
    public void OnRemoved(NodeKey node, bool hasLeft)
    {
        End(node);
        foreach (var one in _open.Values)
        {
            one.Arbitration.Remove(node);
            if (!hasLeft)
            {
                one.Arbitration.RestartReports(context.Environment.Now);
            }
        }
    }

    /// <summary>A member has stood still: what others did not hear of it meanwhile counts no more.</summary>
    public void Excuse(NodeKey node)
    {
        foreach (var one in _open.Values)
        {
            one.Arbitration.Excuse(node, context.Environment.Now);
        }
    }

    /// <summary>The service itself stood still for so long, and has not read what was found meanwhile.</summary>
    public void OnPause(TimeSpan length)
    {
        foreach (var one in _open.Values)
        {
            one.Arbitration.OnPause(length, context.Environment.Now);
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
        var arbitration = new FaultArbitration(suspect.Key, round);
        arbitration.AddSuspect(suspect.Info.JoinOrder, now);
        arbitration.Report(reporter.Key, reporter.Info.JoinOrder, now, tie == RegionTie.Neighbour);
        AddWitnesses(arbitration, FaultArbitration.Witnesses, now);
        foreach (var other in _open.Values)
        {
            if (other.Arbitration.Find(suspect.Key) is { IsReporter: true })
            {
                AddSuspectedBy(arbitration, other.Arbitration.Suspect, now);
            }
        }

        var one = new Case(arbitration, reporter.Key, new Alarm(() => OnRound(arbitration)));
        _open.Add(suspect.Key, one);
        context.Counters.FaultArbitrations++;
        OnRound(arbitration);
    }

    // Members by lot, from the next on that is not a party yet.
    private void AddWitnesses(FaultArbitration arbitration, int count, TimeSpan now)
    {
        var members = roll.Members;
        int most = Math.Min(Math.Min(arbitration.Parties.Count + count, FaultArbitration.MaxParties), members.Count);
        while (arbitration.Parties.Count < most)
        {
            int at = (int)(context.Environment.NextRandom() % (ulong)members.Count);
            while (arbitration.Find(members[at].Key) is not null)
            {
                at = (at + 1) % members.Count;
            }

            arbitration.AddWitness(members[at].Key, members[at].Info.JoinOrder, now);
        }
    }

    // A suspect that itself waits for another may be blamed for what that one does.
    private void AddSuspectedBy(FaultArbitration arbitration, NodeKey other, TimeSpan now)
    {
        if (arbitration.Parties.Count < FaultArbitration.MaxParties && roll.Find(other) is { } member)
        {
            arbitration.AddWitness(member.Key, member.Info.JoinOrder, now);
        }
    }

    private void End(NodeKey suspect)
    {
        if (_open.Remove(suspect, out var one))
        {
            context.Environment.Cancel(one.Alarm);
        }
    }

    private void OnRound(FaultArbitration arbitration)
    {
        var now = context.Environment.Now;
        var ruling = arbitration.Judge(roll.Members.Count, now);
        if (ruling.Kind == RulingKind.Over)
        {
            End(arbitration.Suspect);
            return;
        }

        if (ruling.Kind == RulingKind.Tied)
        {
            arbitration.Widen(now);
            AddWitnesses(arbitration, FaultArbitration.MaxParties, now);
        }
        else if (ruling.Kind != RulingKind.Open && roll.Find(ruling.Guilty) is { } guilty
            && now - guilty.LastHeard < round * RoundsOfSilence)
        {
            // First, because a removed member leaves all arbitrations: this one ends with its suspect or continues without its reporter.
            context.Environment.Schedule(_open[arbitration.Suspect].Alarm, round);
            Remove(guilty, arbitration, ruling);
            return;
        }

        foreach (var party in arbitration.Parties)
        {
            Ask(arbitration, party.Key);
        }

        context.Environment.Schedule(_open[arbitration.Suspect].Alarm, round);
    }

    private void Ask(FaultArbitration arbitration, NodeKey party)
    {
        if (roll.Find(party) is not { Session: { } session })
        {
            return;
        }

        var others = new List<NodeKey>();
        var targets = ImmutableArray.CreateBuilder<IPEndPoint>();
        foreach (var other in arbitration.Parties)
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
                context.Logger.Found(roll.Named(party), met, others.Count, roll.Named(arbitration.Suspect));
                arbitration.OnFound(party, others, findings, context.Environment.Now);
            });
    }

    private void Remove(Member guilty, FaultArbitration arbitration, Ruling ruling)
    {
        if (ruling.Kind == RulingKind.Useless)
        {
            string why = $"{ruling.Met} ring neighbours have had no answer from it for a long time, although it answers echoes";
            roll.RemoveUnreachable(guilty, why);
            return;
        }

        context.Counters.NodesUnreachable++;
        removed.Add(guilty.Info.EndPoint.Address, ruling.Unmet, context.Environment.Now);
        roll.RemoveUnreachable(guilty, Reason(guilty, arbitration, ruling));
    }

    private string Reason(Member guilty, FaultArbitration arbitration, Ruling ruling)
    {
        int others = arbitration.Parties.Count - 1;
        if (ruling.Kind == RulingKind.Lossy)
        {
            return $"datagrams are lost between it ({guilty.Info.EndPoint}) and {ruling.Unmet.Count} of {others} other probed members,"
                + $" and {ruling.Met} ring neighbours have had no answer for a long time; {advice.For(guilty.Info.EndPoint)}";
        }

        return $"no datagram passes between it ({guilty.Info.EndPoint}) and {ruling.Unmet.Count} of {others} other probed members,"
            + $" although its connection to the service works; {advice.For(guilty.Info.EndPoint)}";
    }
}
