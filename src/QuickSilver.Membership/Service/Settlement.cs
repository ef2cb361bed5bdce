using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Regions;

namespace QuickSilver.Membership.Service;

// Tells everybody how far everybody has settled: the lowest configuration confirmed by any live node. Several
// confirmations that come together make one message.
//
// Who was removed counts until the others have been told so: by the word alone they would close the views in which it had
// something under way, without knowing that they are to agree about it first.
internal sealed class Settlement
{
    private readonly INodeEnvironment _environment;
    private readonly TimeSpan _interval;
    private readonly List<Member> _members;
    private readonly AddressPlan _addresses;
    private readonly Alarm _alarm;
    // The lowest that was confirmed by those whose removal was not told yet.
    private long _leaving = long.MaxValue;

    public Settlement(INodeEnvironment environment, TimeSpan interval, List<Member> members, AddressPlan addresses)
    {
        _environment = environment;
        _interval = interval;
        _members = members;
        _addresses = addresses;
        _alarm = new Alarm(Announce);
    }

    public long Settled { get; private set; }

    /// <summary>Somebody was removed.</summary>
    public void OnRemoved(Member member) => _leaving = Math.Min(_leaving, member.Confirmed);

    /// <summary>All were told of a configuration without those who were removed.</summary>
    public void OnTold()
    {
        _leaving = long.MaxValue;
        Consider();
    }

    /// <summary>Somebody confirmed.</summary>
    public void Consider()
    {
        if (!_alarm.IsPending)
        {
            _environment.Schedule(_alarm, _interval);
        }
    }

    /// <summary>
    /// Only what was settled together with it: where it comes from another service it has views of there, with lower numbers, which
    /// it would close under its own streams.
    /// </summary>
    public void Tell(Member member)
    {
        if (Settled > 0 && !member.IsNew && Settled >= member.Info.AdmittedAt)
        {
            member.Session?.Send(new SettledMessage(Settled));
        }
    }

    public void Stop() => _environment.Cancel(_alarm);

    private void Announce()
    {
        long lowest = _leaving;
        foreach (var member in _members)
        {
            if (!member.IsNew)
            {
                lowest = Math.Min(lowest, member.Confirmed);
            }
        }

        if (lowest == long.MaxValue || lowest <= Settled)
        {
            return;
        }

        Settled = lowest;
        _addresses.Settle(lowest);
        foreach (var member in _members)
        {
            Tell(member);
        }
    }
}
