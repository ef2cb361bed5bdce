using QuickSilver.Core.Alarms;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Hearing;

// Reports which members do not hear which senders over multicast. The status and the counters change a second after the state does; the log
// does so too, but has an entry at most every ten seconds.
internal sealed class HearingReport
{
    private static readonly TimeSpan Delay = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan LogSpacing = TimeSpan.FromSeconds(10);
    // The keys under which the troubles are registered at each node.
    private static readonly object Silence = new();
    private static readonly object Deafness = new();

    private readonly NodeContext _context;
    private Alarm? _alarm;
    private (int Count, NodeKey Node) _loggedSilent;
    private (int Count, NodeKey Node) _loggedDeaf;
    private TimeSpan _loggedAt = TimeSpan.MinValue;

    public HearingReport(NodeContext context) => _context = context;

    public UnheardSenders? UnheardSenders { get; set; }

    public DeafMembers? Deaf { get; set; }

    public void OnChange()
    {
        _alarm ??= new Alarm(Report);
        if (!_alarm.IsPending)
        {
            _context.Environment.Schedule(_alarm, Delay);
        }
    }

    public void Close()
    {
        if (_alarm is not null)
        {
            _context.Environment.Cancel(_alarm);
        }
    }

    private void Report()
    {
        var (silentCount, sender, view) = UnheardSenders?.Silent() ?? default;
        var (deafCount, member) = Deaf?.Deaf() ?? default;
        _context.Counters.UnheardSenders = silentCount;
        _context.Counters.DeafMembers = deafCount;
        SetTrouble(Silence, silentCount > 0, TroubleKind.SendersNotHeard, () =>
            $"This node does not hear {Counted.Of(silentCount, "sender")} over multicast, for example {Named(sender)}. "
                + "Copies come by unicast. "
            + $"The network or a firewall blocks the group {view?.Group}.");
        SetTrouble(Deafness, deafCount > 0, TroubleKind.NotHeard, () =>
            $"{Counted.Of(deafCount, "node")} to which this node sends {(deafCount == 1 ? "does" : "do")} not hear it over multicast, "
            + $"for example {Named(member)}: {Consequence}.");
        Log((silentCount, sender), (deafCount, member), view);
    }

    private string Consequence => _context.Options.CopiesToDeaf
        ? "they get copies by unicast"
        : "they get repairs only, because Dissemination is Multicast";

    private void Log((int Count, NodeKey Node) silent, (int Count, NodeKey Node) deaf, RegionView? view)
    {
        if (silent == _loggedSilent && deaf == _loggedDeaf)
        {
            return;
        }

        var now = _context.Environment.Now;
        if (_loggedAt != TimeSpan.MinValue && now - _loggedAt < LogSpacing)
        {
            _context.Environment.Schedule(_alarm!, LogSpacing - (now - _loggedAt));
            return;
        }

        _loggedAt = now;
        if (silent != _loggedSilent && silent.Count > 0)
        {
            HearingLog.SendersNotHeard(_context.Log, silent.Count, _context.Named(silent.Node), Address(silent.Node), view?.Group);
        }
        else if (silent != _loggedSilent)
        {
            HearingLog.SendersHeard(_context.Log);
        }

        if (deaf != _loggedDeaf && deaf.Count > 0)
        {
            HearingLog.MembersDeaf(_context.Log, deaf.Count, _context.Named(deaf.Node), Address(deaf.Node), Consequence);
        }
        else if (deaf != _loggedDeaf)
        {
            HearingLog.MembersHear(_context.Log);
        }

        (_loggedSilent, _loggedDeaf) = (silent, deaf);
    }

    private void SetTrouble(object of, bool isSo, TroubleKind kind, Func<string> what)
    {
        if (isSo)
        {
            _context.Troubles.Begin(of, new Trouble(kind, what(), _context.Environment.UtcNow));
        }
        else
        {
            _context.Troubles.End(of);
        }
    }

    private string Named(NodeKey node) => $"{_context.Named(node)} at {Address(node)}";

    private string Address(NodeKey node) => _context.Directory.Find(node)?.ToString() ?? "an unknown address";
}
