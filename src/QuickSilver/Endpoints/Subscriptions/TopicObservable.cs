namespace QuickSilver.Endpoints.Subscriptions;

// A subscriber as an IObservable. Each observer is a handler, and is also notified of the end of the endpoint.
internal sealed class TopicObservable<T>(TypedSubscription<T> subscription) : IObservable<Message<T>>
{
    public IDisposable Subscribe(IObserver<Message<T>> observer)
    {
        ArgumentNullException.ThrowIfNull(observer);
        var added = new TopicObserver<T>(subscription, observer);
        subscription.Observe(added);
        return added;
    }
}

// One subscription of an observer. The observer is called on the core thread, one call at a time, and is not called after the end.
internal sealed class TopicObserver<T>(TypedSubscription<T> subscription, IObserver<Message<T>> observer)
    : IDisposable, IEndObserver
{
    private IDisposable? _handler;
    private int _isOver;

    private bool IsOver => Volatile.Read(ref _isOver) != 0;

    /// <summary>Begins the delivery of messages; called once. Throws if the endpoint has ended.</summary>
    public void Begin()
    {
        var handler = subscription.SubscribeInline([((in Message<T> message) => OnNext(message), null, null)])[0];
        Volatile.Write(ref _handler, handler);
        if (IsOver)
        {
            // It was disposed of or ended meanwhile, before there was a handler to detach.
            handler.Dispose();
        }
    }

    /// <summary>Called when the endpoint has ended. <paramref name="error"/> is null if the application ended it.</summary>
    public void End(Exception? error)
    {
        if (Interlocked.Exchange(ref _isOver, 1) != 0)
        {
            return;
        }

        try
        {
            if (error is null)
            {
                observer.OnCompleted();
            }
            else
            {
                observer.OnError(error);
            }
        }
        catch (Exception exception)
        {
            subscription.Topic.OnObserverFault(exception);
        }
    }

    public void Dispose()
    {
        Volatile.Write(ref _isOver, 1);
        Volatile.Read(ref _handler)?.Dispose();
        subscription.Forget(this);
    }

    private void OnNext(in Message<T> message)
    {
        if (!IsOver)
        {
            observer.OnNext(message);
        }
    }
}
