using QuickSilver.Core.Alarms;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Regions;
using QuickSilver.Membership.Regions.Addresses;
using QuickSilver.Membership.Service.Sessions;
using QuickSilver.Membership.Service.Stores;
using QuickSilver.Membership.Service.Takeover;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Service.Configurations;

// Issues the configurations of a service: collects changes until a batch is due, waits for members that are expected back, numbers the next
// configuration, and sends each member its part.
//
// Invariants: a member is announced in the configuration that admits it and never before. One that is removed is announced as removed
// before it can be admitted again. No member gets a configuration whose number is not claimed. Changes that come while a number is being
// claimed are part of the configuration.
internal sealed class ConfigurationIssuer
{
    private readonly SessionContext _context;
    private readonly MembershipServiceOptions _options;
    private readonly IMembershipStore _store;
    private readonly MemberTable _members;
    private readonly AddressPlan _addresses;
    private readonly ConfigurationPublisher _publisher;
    private readonly SubscriptionBatch _batch;
    private readonly Gathering _gathering;
    private readonly Returns _returns;
    private readonly Alarm _alarm;
    // What the next configuration announces.
    private readonly List<NodeKey> _removed = [];
    private readonly List<ControlSession> _leaving = [];
    private bool _isClaiming;
    private bool _isStopped;

    /// <param name="context">The service's.</param>
    /// <param name="options">The service's.</param>
    /// <param name="store">Keeps the epoch.</param>
    /// <param name="members">The members.</param>
    /// <param name="life">The life of the service.</param>
    public ConfigurationIssuer(
        SessionContext context, MembershipServiceOptions options, IMembershipStore store, MemberTable members, ulong life)
    {
        _context = context;
        _options = options;
        _store = store;
        _members = members;
        Life = life;
        _addresses = new AddressPlan(options.Cluster, options.RangeFor(context.Environment.LocalAddress), options.GroupPorts);
        uint firstRegion = (uint)context.Environment.NextRandom();
        Keys = options.IsSealed ? RegionKeys.Draw(context.Environment) : null;
        Map = new RegionMap(_addresses, firstRegion, options.TopicSets, repair: options.Repair,
            topicAddresses: options.IsSealed ? TopicAddressRules.None : options.TopicAddresses)
        {
            Keys = Keys,
        };
        Numbers = new ConfigurationNumbers(store, context.Logger, life);
        Ended = new EndedLives(life);
        _publisher = new ConfigurationPublisher(Map, Ended, context.Counters) { Keys = Keys };
        Settlement = new Settlement(context.Environment, options.SettleInterval, members, _addresses, ForgetSettled);
        _batch = new SubscriptionBatch(options.BatchInterval, options.QuietDelay);
        _gathering = new Gathering(options.GatherGrace);
        _returns = new Returns(life, Numbers, _gathering, options.GatherGrace);
        _alarm = new Alarm(Issue);
        Waiting = new WaitingClaim(context, store, members);
    }

    /// <summary>The life of the service.</summary>
    public ulong Life { get; }

    public RegionMap Map { get; }

    /// <summary>Null: packets are not sealed.</summary>
    public RegionKeys? Keys { get; }

    public ConfigurationNumbers Numbers { get; }

    public EndedLives Ended { get; }

    public WaitingClaim Waiting { get; }

    public Settlement Settlement { get; }

    /// <summary>The service begins.</summary>
    /// <param name="known">The last configuration of the node that hosts it; 0 when there is none.</param>
    public void Start(long known)
    {
        Numbers.Load(known);
        if (Numbers.MayFollow && _gathering.Begin(_context.Environment.Now))
        {
            _context.Logger.Gathering(_options.GatherGrace);
        }
    }

    public void Stop()
    {
        _isStopped = true;
        Waiting.End();
        _context.Environment.Cancel(_alarm);
        Settlement.Stop();
    }

    /// <summary>The map or the members have changed. The next configuration contains the changes.</summary>
    public void MarkChanged()
    {
        if (_batch.Mark(_context.Environment.Now))
        {
            _context.Environment.Schedule(_alarm, _batch.Due!.Value - _context.Environment.Now);
        }
    }

    /// <summary>Issues now what waits, unless members are expected back.</summary>
    public void IssueWhatIsDue()
    {
        if (_batch.Due is not null && !_gathering.IsOn(_context.Environment.Now))
        {
            Issue();
        }
    }

    /// <summary>Whether the node was removed and no configuration has said so yet.</summary>
    public bool IsBeingRemoved(NodeKey node) => _removed.Contains(node);

    /// <summary>The member is no longer one; the next configuration announces that.</summary>
    public void OnRemoved(Member member)
    {
        _removed.Add(member.Key);
        Settlement.OnRemoved(member);
    }

    /// <summary>
    /// The member leaves. Its session stays a member's until the others are notified: otherwise they would wait for its acknowledgements,
    /// for as long as a store takes to give a number or another server to lead.
    /// </summary>
    /// <param name="session">The member's.</param>
    /// <param name="isNew">Whether no configuration has announced it yet.</param>
    public void OnLeaving(ControlSession session, bool isNew)
    {
        if (isNew)
        {
            session.OnLeft();
        }
        else
        {
            session.BeginLeaving();
            _leaving.Add(session);
        }
    }

    /// <summary>The node was silent and is removed. It may return without a restart.</summary>
    public void OnLost(NodeKey node) => _returns.OnLost(node, _context.Environment.Now);

    /// <summary>A node that was a member before is admitted: those that belong to it may follow.</summary>
    public void OnReturned(JoinMessage returning)
    {
        if (_returns.OnAdmitted(returning, _context.Environment.Now))
        {
            _context.Logger.Gathering(_options.GatherGrace);
        }

        if (_batch.Due is not null)
        {
            // Perhaps this was the last one that was waited for.
            _context.Environment.Schedule(_alarm, _options.QuietDelay);
        }
    }

    /// <summary>Sends a member that has reconnected what it has missed.</summary>
    public void Replay(Member member, long known) => _publisher.Replay(member, known, Numbers.Current, _members);

    /// <summary>The welcome to a node that the service admits.</summary>
    public WelcomeMessage Welcome(bool isResumed) => _options.Failures.WelcomeTo(Life, isResumed, leadsAlone: !_store.IsShared);

    public void SendSnapshot(Member member) => _publisher.PublishSnapshot(member, Numbers.Current, _members);

    private void Issue()
    {
        if (_isClaiming || WaitsForMembers())
        {
            return;
        }

        if (!HasChanges)
        {
            _batch.OnTaken(_context.Environment.Now);
            return;
        }

        _isClaiming = true;
        Numbers.Claim(OnClaimed);
        if (_isClaiming)
        {
            Waiting.Begin();
        }
    }

    private bool HasChanges => Map.HasChanges || _removed.Count > 0 || _members.Exists(static member => member.IsNew);

    // The alarm fires again when the wait ends.
    private bool WaitsForMembers()
    {
        var now = _context.Environment.Now;
        if (!_gathering.IsOn(now))
        {
            return false;
        }

        _context.Environment.Schedule(_alarm, _gathering.Until!.Value - now);
        return true;
    }

    private void OnClaimed(long number)
    {
        _isClaiming = false;
        Waiting.End();
        if (!_isStopped && !WaitsForMembers())
        {
            Make(number);
        }
    }

    private void ForgetSettled()
    {
        if (!Settlement.HasOpenViews(Numbers.Current))
        {
            Map.ForgetLeft();
        }
    }

    private void Make(long number)
    {
        _batch.OnTaken(_context.Environment.Now);
        var joined = _members.FindAll(static member => member.IsNew);
        long previous = Numbers.Current;
        Numbers.Use(number);
        Ended.OnMade(number);
        Map.Apply(number);
        if (Keys is not null && (Keys.Cluster is null || _removed.Count > 0))
        {
            Keys.RenewCluster(number);
        }

        long bytesBefore = _context.Counters.ConfigurationBytes;
        Announce(number, previous, joined);
        _batch.OnAnnounced(_context.Counters.ConfigurationBytes - bytesBefore);
        _removed.Clear();
        _leaving.ForEach(static session => session.OnLeft());
        _leaving.Clear();
        _context.Counters.Configurations++;
        if (_addresses.Shared > _context.Counters.AddressesShared)
        {
            _context.Counters.AddressesShared = _addresses.Shared;
            _context.Logger.AddressesShared(_addresses.Shared);
        }

        if (previous == 0 && Map.Adopted > 0)
        {
            _context.Counters.RegionsAdopted += Map.Adopted;
            _context.Logger.RegionsAdopted(Map.Adopted, Map.RegionCount);
        }

        _context.Logger.ConfigurationMade(number, _members.Count, Map.TopicCount, Map.RegionCount);
        Settlement.OnAnnounced(number);
    }

    private void Announce(long number, long previous, List<Member> joined)
    {
        foreach (var member in joined)
        {
            member.IsNew = false;
            member.Info = member.Info with { AdmittedAt = number };
            // A node that was never a member has sent nothing that could still be unsettled.
            member.Confirmed = member.WasMember ? 0 : number;
        }

        List<NodeInfo> infos = [.. joined.Select(member => member.Info)];
        foreach (var member in _members)
        {
            if (member.Info.AdmittedAt == number)
            {
                _publisher.PublishFirst(member, number, _members);
            }
            else
            {
                _publisher.PublishDelta(member, number, previous, infos, _removed);
            }
        }

        _publisher.Rest();
    }
}
