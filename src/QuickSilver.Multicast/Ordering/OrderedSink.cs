using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Multicast.Ordering;

// A delivery order in front of a subscription's sink. A message that may not be delivered yet is refused as if the sink had no room. It
// then waits where messages for a slow reader wait, within the same limits, and its sender is asked to wait. Messages of other senders may
// wait for the message that was just delivered. They are offered again soon, but not within this call, which is in the middle of another
// sender's run.
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
        // A message at which the sink throws counts as taken, unless there is no memory for it.
        bool isTaken = true;
        try
        {
            isTaken = _sink.TryAccept(message);
        }
        catch (OutOfMemoryException)
        {
            // The message comes again.
            isTaken = false;
            _order.OnRefused(message);
            throw;
        }
        finally
        {
            if (isTaken)
            {
                OfferAgain();
            }
        }

        if (!isTaken)
        {
            _order.OnRefused(message);
        }

        return isTaken;
    }

    public void OnGap(in TopicGap gap)
    {
        _order.OnGap(gap);
        try
        {
            // Before the messages that waited for what is lost.
            _sink.OnGap(gap);
        }
        finally
        {
            OfferAgain();
        }
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
