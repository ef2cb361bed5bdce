using System.Collections.Immutable;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Sending;

namespace QuickSilver.Multicast.Views;

// How far what this node sent is settled, as the membership service is told: in all views that were superseded up to a configuration, but
// for some that are named. What is not settled holds the number up for a moment, in which nearly all is, so that as a rule nothing is
// named; a view that takes longer, as its members' readers have no room, is named then and holds up no other.
internal sealed class Confirmation(IConfirmingNode node)
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(1);

    private readonly List<(long Until, OpenView View)> _unsettled = [];
    private readonly List<OpenView> _named = [];
    // When the number was first held up by a view that is not named.
    private TimeSpan? _heldSince;
    private Alarm? _look;

    public bool IsNothingNamed => _named.Count == 0;

    /// <summary>Others are named since the last time.</summary>
    public bool IsNews { get; private set; }

    public ImmutableArray<OpenView> Named => [.. _named];

    /// <summary>What was sent and is not settled holds the confirmation up, which is made when something does.</summary>
    public static void Hold(SentStreams sent, long configuration, IConfirmingNode node, ref Confirmation? confirmation)
    {
        foreach (var sender in sent.Retired)
        {
            (confirmation ??= new Confirmation(node)).Hold(sender, sender.SupersededAt);
        }

        // Its members wait for a stream that no topic here uses any more, whatever this node was told of the region since.
        foreach (var sender in sent.Current)
        {
            if (!sender.IsSettled && sender.RoutedAt < configuration)
            {
                (confirmation ??= new Confirmation(node)).Hold(sender, sender.RoutedAt + 1);
            }
        }
    }

    // A view with something unsettled, though it was superseded or is used no more: from this configuration on.
    private void Hold(RegionSender sender, long from) =>
        _unsettled.Add((from - 1, new OpenView(sender.View.RegionId, sender.View.Number)));

    /// <summary>Up to where all is settled but in the views that are named, once all that hold it up were said.</summary>
    public long Weigh(long configuration)
    {
        IsNews = ForgetSettled();
        long confirmed = ThroughWithout(configuration);
        if (confirmed == configuration)
        {
            _heldSince = null;
        }
        else if (IsLongHeld())
        {
            Name();
            IsNews = true;
            confirmed = ThroughWithout(configuration);
        }

        _unsettled.Clear();
        return confirmed;
    }

    public void Close() => node.Environment.CancelIfMade(_look);

    private bool ForgetSettled()
    {
        int before = _named.Count;
        for (int i = before - 1; i >= 0; i--)
        {
            bool isSettled = true;
            foreach (var (_, view) in _unsettled)
            {
                isSettled &= view != _named[i];
            }

            if (isSettled)
            {
                _named.RemoveAt(i);
            }
        }

        return _named.Count < before;
    }

    // Up to where all is settled but in the views that are named.
    private long ThroughWithout(long configuration)
    {
        foreach (var (until, view) in _unsettled)
        {
            configuration = _named.Contains(view) ? configuration : Math.Min(configuration, until);
        }

        return configuration;
    }

    private bool IsLongHeld()
    {
        var now = node.Environment.Now;
        var since = _heldSince ??= now;
        if (now - since >= Patience && _named.Count < OpenView.MostPerNode)
        {
            _heldSince = null;
            return true;
        }

        _look ??= new Alarm(node.ConfirmIfSettled);
        if (!_look.IsPending)
        {
            node.Environment.Schedule(_look, Patience);
        }

        return false;
    }

    // The oldest first: they hold up the most.
    private void Name()
    {
        foreach (var (_, view) in _unsettled.OrderBy(static unsettled => unsettled.Until))
        {
            if (_named.Count < OpenView.MostPerNode && !_named.Contains(view))
            {
                _named.Add(view);
            }
        }
    }
}
