namespace QuickSilver.Endpoints;

// A subscriber as observers of the BCL see it: each of them is a handler, and is told besides how the endpoint ended.
internal sealed class TopicObservable<T>(TopicEndpoint<T> endpoint) : IObservable<Message<T>>
{
    public IDisposable Subscribe(IObserver<Message<T>> observer)
    {
        ArgumentNullException.ThrowIfNull(observer);
        var subscription = new TopicObserver<T>(endpoint, observer);
        endpoint.Observe(subscription);
        return subscription;
    }
}

// One subscription of an observer. It is told on the core thread, one thing at a time, and nothing after the end.
internal sealed class TopicObserver<T>(TopicEndpoint<T> endpoint, IObserver<Message<T>> observer) : IDisposable
{
    private IDisposable? _handler;
    private int _isOver;

    private bool IsOver => Volatile.Read(ref _isOver) != 0;

    /// <summary>Once: from now on it gets the messages. Throws where the endpoint has ended.</summary>
    public void Begin()
    {
        var handler = endpoint.SubscribeInline((in Message<T> message) => OnNext(message));
        Volatile.Write(ref _handler, handler);
        if (IsOver)
        {
            // Disposed or ended meanwhile, when there was nothing to detach yet.
            handler.Dispose();
        }
    }

    /// <summary>The endpoint has ended; null: as its user wanted.</summary>
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
            endpoint.Topic.OnObserverFault(exception);
        }
    }

    public void Dispose()
    {
        Volatile.Write(ref _isOver, 1);
        Volatile.Read(ref _handler)?.Dispose();
        endpoint.Forget(this);
    }

    private void OnNext(in Message<T> message)
    {
        if (!IsOver)
        {
            observer.OnNext(message);
        }
    }
}
