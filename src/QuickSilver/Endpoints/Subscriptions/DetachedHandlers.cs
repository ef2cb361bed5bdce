namespace QuickSilver.Endpoints.Subscriptions;

// The handlers and observers of an endpoint that ends, which get no more messages. Core thread, or any thread when that has ended.
internal abstract class DetachedHandlers
{
    public abstract void Notify(in GapNotice gap);

    public abstract void End(SubscriptionEnd end);
}

internal sealed class DetachedHandlers<T>(HandlerEndpoint<T>[] handlers, IEndObserver[] observers) : DetachedHandlers
{
    public override void Notify(in GapNotice gap)
    {
        foreach (var handler in handlers)
        {
            handler.Notify(gap);
        }
    }

    public override void End(SubscriptionEnd end)
    {
        foreach (var handler in handlers)
        {
            handler.End(end);
        }

        foreach (var observer in observers)
        {
            observer.End(end.Error);
        }
    }
}
