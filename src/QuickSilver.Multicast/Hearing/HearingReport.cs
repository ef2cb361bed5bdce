using QuickSilver.Core.Alarms;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Hearing;

// Tells who does not hear whom over multicast: in the node's status and counters a second after it changed, and in the log, then too, but
// at most each ten seconds.
internal sealed class HearingReport
{
    private static readonly TimeSpan Delay = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan LogSpacing = TimeSpan.FromSeconds(10);

    private readonly MulticastContext _context;
    // Who is told to have a trouble.
    private readonly object _silence = new();
    private readonly object _deafness = new();
    private Alarm? _alarm;
    private (int Count, NodeKey Node) _loggedSilent;
    private (int Count, NodeKey Node) _loggedDeaf;
    private TimeSpan _loggedAt = TimeSpan.MinValue;

    public HearingReport(MulticastContext context) => _context = context;

    public GroupEars? Ears { get; set; }

    public DeafMembers? Deaf { get; set; }

    public void OnChange()
    {
        _alarm ??= new Alarm(Tell);
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

    private void Tell()
    {
        var (silentCount, sender, view) = Ears?.Silent() ?? default;
        var (deafCount, member) = Deaf?.Deaf() ?? default;
        _context.Counters.UnheardSenders = silentCount;
        _context.Counters.DeafMembers = deafCount;
        SetTrouble(_silence, silentCount > 0, () =>
            $"This node does not hear {Count(silentCount, "sender")} over multicast, {Named(sender)} among them: copies come by unicast. "
            + $"The network or a firewall does not pass the group {view?.Group}.");
        SetTrouble(_deafness, deafCount > 0, () =>
            $"{Count(deafCount, "node")} to which this node sends {(deafCount == 1 ? "does" : "do")} not hear it over multicast, "
            + $"{Named(member)} among them: {Consequence}.");
        Log((silentCount, sender), (deafCount, member), view);
    }

    private string Consequence => _context.Options.CopiesToDeaf
        ? "copies go by unicast"
        : "as Dissemination is Multicast, they get repairs only";

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
            HearingLog.SendersNotHeard(_context.Log, silent.Count, silent.Node, Address(silent.Node), view?.Group);
        }
        else if (silent != _loggedSilent)
        {
            HearingLog.SendersHeard(_context.Log);
        }

        if (deaf != _loggedDeaf && deaf.Count > 0)
        {
            HearingLog.MembersDeaf(_context.Log, deaf.Count, deaf.Node, Address(deaf.Node), Consequence);
        }
        else if (deaf != _loggedDeaf)
        {
            HearingLog.MembersHear(_context.Log);
        }

        (_loggedSilent, _loggedDeaf) = (silent, deaf);
    }

    private void SetTrouble(object of, bool isSo, Func<string> what)
    {
        if (isSo)
        {
            _context.Troubles.Begin(of, what());
        }
        else
        {
            _context.Troubles.End(of);
        }
    }

    private string Named(NodeKey node) => $"{node} at {Address(node)}";

    private string Address(NodeKey node) => _context.Directory.Find(node)?.ToString() ?? "an unknown address";

    private static string Count(int count, string what) => count == 1 ? $"1 {what}" : $"{count} {what}s";
}
