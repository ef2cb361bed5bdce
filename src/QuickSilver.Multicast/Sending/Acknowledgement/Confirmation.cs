using System.Collections.Immutable;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Sending.Acknowledgement;

// Computes what this node confirms to the membership service: the configuration up to which everything that it sent in superseded views is
// settled, except in some views that it names. An unsettled view holds the number back for a moment, in which nearly every view is
// settled, so usually no view is named. A view that takes longer, because its members' readers have no room, is named and then holds back
// no other view.
internal sealed class Confirmation(IConfirmingNode node)
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(1);

    private readonly List<(long Until, OpenView View)> _unsettled = [];
    private readonly List<OpenView> _named = [];
    // When a view that is not named began to hold the number back.
    private TimeSpan? _heldSince;
    private Alarm? _look;

    public bool IsNothingNamed => _named.Count == 0;

    /// <summary>Whether the named views have changed since the last time.</summary>
    public bool IsNews { get; private set; }

    public ImmutableArray<OpenView> Named => [.. _named];

    /// <summary>Adds the views with unsettled streams. The confirmation is created when there is the first one.</summary>
    public static void Hold(SentStreams sent, long configuration, IConfirmingNode node, ref Confirmation? confirmation)
    {
        foreach (var sender in sent.Retired)
        {
            (confirmation ??= new Confirmation(node)).Hold(sender, sender.SupersededAt);
        }

        // No topic of this node uses this stream any more, and its members wait for it, whatever this node has learnt about the region
        // since.
        foreach (var sender in sent.Current)
        {
            if (!sender.IsSettled && sender.RoutedAt < configuration)
            {
                (confirmation ??= new Confirmation(node)).Hold(sender, sender.RoutedAt + 1);
            }
        }
    }

    // The view has unsettled packets, and was superseded or is unused from this configuration on.
    private void Hold(ISentStream sender, long from) =>
        _unsettled.Add((from - 1, new OpenView(sender.View.RegionId, sender.View.Number)));

    /// <summary>
    /// Returns the configuration up to which everything is settled except in the named views. Called after all unsettled views were added.
    /// </summary>
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

    // The configuration up to which everything is settled except in the named views.
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

    // The oldest views first, because they hold back the most.
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
