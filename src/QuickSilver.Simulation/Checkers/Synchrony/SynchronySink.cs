using System.Globalization;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Simulation.Checkers.Synchrony;

// A subscription to a pinned topic: notes which messages of each sender it delivered between one view and the next.
internal sealed class SynchronySink(NodeKey member, SynchronyChecker checker, IDeliverySink sink) : IDeliverySink
{
    private readonly SortedDictionary<NodeKey, (long First, long Last)> _delivered = [];
    private MemberView? _view;

    public bool TryAccept(in DeliveredMessage message)
    {
        if (!sink.TryAccept(message))
        {
            return false;
        }

        long first = _delivered.TryGetValue(message.Sender, out var range) ? range.First : message.Sequence;
        _delivered[message.Sender] = (first, message.Sequence);
        return true;
    }

    public string? WhyFull => sink.WhyFull;

    public void OnStable(NodeKey sender, long through) => sink.OnStable(sender, through);

    public void OnGap(in TopicGap gap) => sink.OnGap(gap);

    public void OnView(MemberView view)
    {
        if (_view is not null)
        {
            string delivered = string.Join(' ', _delivered.Select(one => string.Create(
                CultureInfo.InvariantCulture, $"{one.Key}:{one.Value.First}-{one.Value.Last}")));
            checker.OnPassage(member, _view, view, delivered);
        }

        _view = view;
        _delivered.Clear();
        sink.OnView(view);
    }

    public void OnFlush(IFlushBarrier barrier) => sink.OnFlush(barrier);
}
