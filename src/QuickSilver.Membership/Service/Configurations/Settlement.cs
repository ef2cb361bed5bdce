using System.Collections.Immutable;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Regions.Addresses;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Service.Configurations;

// Announces to all members how far all have settled: the lowest configuration confirmed by any live node, except for the views that some
// node reports as still open. So one view that takes long holds up no other. Several confirmations that come together make one message,
// which leaves at once when all members have confirmed the newest configuration, because no more can come.
//
// A removed member counts until the others are notified of its removal. Otherwise they would close the views in which its messages are
// still under way, without knowing that they have to agree about these first.
internal sealed class Settlement
{
    private readonly INodeEnvironment _environment;
    private readonly TimeSpan _interval;
    private readonly MemberTable _members;
    private readonly AddressPlan _addresses;
    private readonly Action _onAnnounced;
    private readonly Alarm _alarm;
    // The lowest configuration that was confirmed by members whose removal is not announced yet.
    private long _leaving = long.MaxValue;
    private readonly HashSet<OpenView> _leavingOpen = [];
    // The newest configuration, and the number of members, in the order of joining, that are known to have confirmed it. The others may
    // have, too: each member is looked at once for each configuration.
    private long _newest;
    private int _confirming;

    /// <param name="environment">The service's.</param>
    /// <param name="interval">The time in which confirmations are collected for one message.</param>
    /// <param name="members">All members.</param>
    /// <param name="addresses">Where the groups of settled views become free.</param>
    /// <param name="onAnnounced">Called when more is settled than before.</param>
    public Settlement(INodeEnvironment environment, TimeSpan interval, MemberTable members, AddressPlan addresses, Action onAnnounced)
    {
        _environment = environment;
        _interval = interval;
        _members = members;
        _addresses = addresses;
        _onAnnounced = onAnnounced;
        _alarm = new Alarm(Announce);
    }

    public long Settled { get; private set; }

    /// <summary>The views superseded until then that are not settled, in order.</summary>
    public ImmutableArray<OpenView> Open { get; private set; } = [];

    /// <summary>Whether a superseded view may still be open somewhere; <paramref name="current"/> is the last configuration.</summary>
    public bool HasOpenViews(long current) => Settled < current || Open.Length > 0;

    /// <summary>A member was removed.</summary>
    public void OnRemoved(Member member)
    {
        _confirming = 0;
        _leaving = Math.Min(_leaving, member.Confirmed);
        _leavingOpen.UnionWith(member.OpenViews);
    }

    /// <summary>A configuration without the removed members was sent to all.</summary>
    public void OnAnnounced(long configuration)
    {
        _newest = configuration;
        _confirming = 0;
        _leaving = long.MaxValue;
        _leavingOpen.Clear();
        Consider();
    }

    /// <summary>A member has confirmed a configuration.</summary>
    public void Consider()
    {
        if (HaveAllConfirmed())
        {
            _environment.Schedule(_alarm, TimeSpan.Zero);
        }
        else if (!_alarm.IsPending)
        {
            _environment.Schedule(_alarm, _interval);
        }
    }

    /// <summary>
    /// Sends the member what is settled, if it was settled with this member. A member that comes from another service has views of there,
    /// with lower numbers, which it would close under its own streams.
    /// </summary>
    public void SendTo(Member member)
    {
        if (Settled > 0 && !member.IsNew && Settled >= member.Info.AdmittedAt)
        {
            member.Session?.Send(OpenViewsMessage.Settled(Settled, Open));
        }
    }

    public void Stop() => _environment.Cancel(_alarm);

    private bool HaveAllConfirmed()
    {
        while (_confirming < _members.Count && (_members[_confirming].IsNew || _members[_confirming].Confirmed >= _newest))
        {
            _confirming++;
        }

        return _confirming == _members.Count && _leaving == long.MaxValue;
    }

    private void Announce()
    {
        long lowest = _leaving;
        var open = new HashSet<OpenView>(_leavingOpen);
        foreach (var member in _members)
        {
            if (!member.IsNew)
            {
                lowest = Math.Min(lowest, member.Confirmed);
                open.UnionWith(member.OpenViews);
            }
        }

        if (lowest == long.MaxValue || lowest < Settled || open.Count > OpenView.MostReported
            || (lowest == Settled && open.SetEquals(Open)))
        {
            return;
        }

        Settled = lowest;
        Open = [.. open.OrderBy(static view => view.Region).ThenBy(static view => view.Number)];
        _addresses.Settle(lowest, open);
        foreach (var member in _members)
        {
            SendTo(member);
        }

        _onAnnounced();
    }
}
