using QuickSilver.Diagnostics;
using QuickSilver.Multicast.Channels;
using QuickSilver.Serialization;

namespace QuickSilver.Endpoints;

// A handler on the core thread: the shortest way a message can take. What it throws is counted and logged by the endpoint,
// never seen by the protocol.
//
// While it is the endpoint's one consumer, and the endpoint the topic's one, messages come here straight from their sender's
// order: with thousands of topics, what a message has to look at on its way costs more than what is done with it. So what it
// needs of the endpoint it has itself.
internal sealed class HandlerEndpoint<T>(
    MessageHandler<T> handler, Action<GapNotice>? onGap, TopicEndpoint<T> endpoint, IPayloadCodec<T> codec) : IDirectSink, IDisposable
{
    private readonly NodeCounterCells _counterCells = endpoint.Topic.Node.CounterCells;
    private volatile bool _isDetached;
    private volatile bool _isAlone;

    public bool TryTake(in DeliveredMessage message)
    {
        if (!_isAlone)
        {
            return false;
        }

        _counterCells.CountDelivered(message.Length);
        TopicEndpoint<T>.HandTo(endpoint, codec, this, message);
        return true;
    }

    public void Deliver(in Message<T> message)
    {
        if (_isDetached)
        {
            return;
        }

        try
        {
            handler(message);
        }
        catch (Exception exception)
        {
            endpoint.OnHandlerFault(exception, message.Sender, message.Sequence);
        }
    }

    /// <summary>Reads what <see cref="TryTake"/> and the handler will first, and does nothing.</summary>
    public int Touch() => _isAlone && handler.Target is { } target && target.GetType() == typeof(object) ? 1 : 0;

    /// <summary>Under the endpoint's lock: whether messages may come straight.</summary>
    public void SetAlone(bool isAlone) => _isAlone = isAlone;

    public void Tell(in GapNotice gap)
    {
        if (_isDetached || onGap is null)
        {
            return;
        }

        try
        {
            onGap(gap);
        }
        catch (Exception exception)
        {
            endpoint.OnHandlerFault(exception, gap.Sender, gap.First);
        }
    }

    public void Dispose()
    {
        _isDetached = true;
        endpoint.Detach(this);
    }
}
