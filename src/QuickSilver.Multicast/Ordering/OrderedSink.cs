using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Multicast.Ordering;

// An order before a subscription's sink. What may not go up yet is refused as if the sink had no room, so it waits where messages of a
// slow reader wait, within the same bounds, and its sender is told to wait if that is much. What went up may be what others wait for:
// then they are offered again, soon and not from within the call, which is in the midst of another sender's run.
internal sealed class OrderedSink : IDeliverySink
{
    private readonly INodeEnvironment _environment;
    private readonly IDeliverySink _sink;
    private readonly IDeliveryOrder _order;
    private readonly Alarm _offerAgain;
    private bool _isWaiting;

    public OrderedSink(INodeEnvironment environment, IDeliverySink sink, IDeliveryOrder order, Action resume)
    {
        _environment = environment;
        _sink = sink;
        _order = order;
        _offerAgain = new Alarm(() =>
        {
            _isWaiting = false;
            resume();
        });
    }

    public bool TryAccept(in DeliveredMessage message)
    {
        if (!_order.MayDeliver(message))
        {
            _isWaiting = true;
            return false;
        }

        _order.OnDelivered(message);
        if (!_sink.TryAccept(message))
        {
            _order.OnRefused(message);
            return false;
        }

        OfferAgain();
        return true;
    }

    public void OnGap(in TopicGap gap)
    {
        _order.OnGap(gap);
        _sink.OnGap(gap);
        OfferAgain();
    }

    public void OnView(MemberView view)
    {
        _order.OnView(view);
        _sink.OnView(view);
    }

    public void OnFlush(IFlushBarrier barrier) => _sink.OnFlush(barrier);

    public void Close() => _environment.Cancel(_offerAgain);

    private void OfferAgain()
    {
        if (_isWaiting && !_offerAgain.IsPending)
        {
            _environment.Schedule(_offerAgain, TimeSpan.Zero);
        }
    }
}
