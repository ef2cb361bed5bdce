namespace QuickSilver.Endpoints;

// A handler on the core thread: the shortest way a message can take. What it throws is counted and logged by the endpoint,
// never seen by the protocol.
internal sealed class HandlerEndpoint<T>(MessageHandler<T> handler, Action<GapNotice>? onGap, TopicEndpoint<T> endpoint) : IDisposable
{
    private volatile bool _isDetached;

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

    /// <summary>Reads what <see cref="Deliver"/> and the handler will first, and does nothing.</summary>
    public int Touch() => !_isDetached && handler.Target is { } target && target.GetType() == typeof(object) ? 1 : 0;

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
