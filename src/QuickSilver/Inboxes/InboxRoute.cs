using QuickSilver.Endpoints;

namespace QuickSilver.Inboxes;

// The way to the inbox of one node. It opens with the first letter: until this node knows that the other subscribes to its inbox, letters
// wait here, since a message without a receiver is lost. A node that does not subscribe within OpeningLimit has gone; what waits for it is
// dropped and counted, and the next letter tries again.
internal sealed class InboxRoute
{
    private const int MaxWaiting = 1024;
    private const long MaxWaitingBytes = 16 << 20;
    private static readonly TimeSpan OpeningLimit = TimeSpan.FromSeconds(5);

    private readonly IEndpointNode _core;
    private readonly Action<ReadOnlyMemory<byte>> _undelivered;
    private readonly Lock _lock = new();
    // Null when the way is open.
    private Queue<byte[]>? _waiting = [];
    private long _waitingBytes;
    // Null until it is open. It has a subscriber when nothing waits any more.
    private TopicEndpoint<ReadOnlyMemory<byte>>? _endpoint;
    private readonly TaskCompletionSource<bool> _opened;
    private bool _isClosed;

    public InboxRoute(IEndpointNode core, Task<TopicEndpoint<ReadOnlyMemory<byte>>> opening, Action<ReadOnlyMemory<byte>> undelivered)
    {
        _core = core;
        _undelivered = undelivered;
        _opened = new TaskCompletionSource<bool>(core.Completions);
        _ = OpenAsync(opening);
    }

    /// <summary>Under the lock of the routes.</summary>
    public long LastUse { get; set; }

    /// <summary>Completes when letters do not wait any more: with true, or with false when the route is closed before.</summary>
    public Task<bool> Opened => _opened.Task;

    /// <summary>Whether another route must be opened: this one is closed, or its node does not subscribe any more.</summary>
    public bool IsOver
    {
        get
        {
            lock (_lock)
            {
                return _isClosed || (_waiting is null && (_endpoint!.Subscribers == 0 || _endpoint.State != EndpointState.Open));
            }
        }
    }

    public ValueTask SendAsync(ReadOnlyMemory<byte> letter, CancellationToken cancellationToken)
    {
        lock (_lock)
        {
            if (_isClosed || (_waiting is not null && (_waiting.Count >= MaxWaiting || _waitingBytes >= MaxWaitingBytes)))
            {
                _undelivered(letter);
                return default;
            }

            if (_waiting is not null)
            {
                MessageTooLargeException.ThrowIfOver(letter.Length);

                _waitingBytes += letter.Length;
                _waiting.Enqueue(letter.ToArray());
                return default;
            }
        }

        return PublishAsync(letter, cancellationToken);
    }

    public void Close()
    {
        TopicEndpoint<ReadOnlyMemory<byte>>? endpoint;
        lock (_lock)
        {
            _isClosed = true;
            Drop();
            endpoint = _endpoint;
        }

        _opened.TrySetResult(false);
        if (endpoint is not null)
        {
            _ = endpoint.DisposeAsync();
        }
    }

    private async Task OpenAsync(Task<TopicEndpoint<ReadOnlyMemory<byte>>> opening)
    {
        TopicEndpoint<ReadOnlyMemory<byte>>? endpoint = null;
        try
        {
            endpoint = await opening.ConfigureAwait(_core.ResumesInContext);
            Take(endpoint);
            using var limit = new CancellationTokenSource(OpeningLimit, _core.OutsideTime);
            await endpoint.WaitForSubscribersAsync(1, limit.Token).ConfigureAwait(_core.ResumesInContext);
            await SendWaitingAsync(endpoint).ConfigureAwait(_core.ResumesInContext);
            _opened.TrySetResult(true);
        }
        catch (Exception)
        {
            // Whatever it is, what waits is dropped and counted, and the next letter opens another route.
            Close();
            if (endpoint is not null)
            {
                await endpoint.DisposeAsync().ConfigureAwait(_core.ResumesInContext);
            }
        }
    }

    // From here on, closing the route closes it, which ends the wait for its subscriber.
    private void Take(TopicEndpoint<ReadOnlyMemory<byte>> endpoint)
    {
        lock (_lock)
        {
            if (_isClosed)
            {
                throw new OperationCanceledException();
            }

            _endpoint = endpoint;
        }
    }

    // In order: a letter that comes meanwhile joins the line until it is empty.
    private async Task SendWaitingAsync(TopicEndpoint<ReadOnlyMemory<byte>> endpoint)
    {
        while (true)
        {
            byte[] letter;
            lock (_lock)
            {
                if (_isClosed)
                {
                    throw new OperationCanceledException();
                }

                if (!_waiting!.TryDequeue(out letter!))
                {
                    _waiting = null;
                    return;
                }

                _waitingBytes -= letter.Length;
            }

            try
            {
                await endpoint.PublishAsync((ReadOnlyMemory<byte>)letter).ConfigureAwait(_core.ResumesInContext);
            }
            catch (MessageTooLargeException)
            {
                // For the view of now. The others may have room.
                _undelivered(letter);
            }
        }
    }

    private ValueTask PublishAsync(ReadOnlyMemory<byte> letter, CancellationToken cancellationToken)
    {
        try
        {
            var published = _endpoint!.PublishAsync(letter, cancellationToken);
            return published.IsCompletedSuccessfully ? published : WaitAsync(published, letter);
        }
        catch (Exception exception) when (IsEnd(exception))
        {
            _undelivered(letter);
            return default;
        }
    }

    private async ValueTask WaitAsync(ValueTask published, ReadOnlyMemory<byte> letter)
    {
        try
        {
            await published.ConfigureAwait(_core.ResumesInContext);
        }
        catch (Exception exception) when (IsEnd(exception))
        {
            _undelivered(letter);
        }
    }

    // The route was closed meanwhile, or the node has ended. Anything else is the caller's to know.
    private static bool IsEnd(Exception exception) => exception is ObjectDisposedException or OperationCanceledException
        or NodeExpelledException or ContractMismatchException or TopicAccessDeniedException or InvalidOperationException;

    // Under the lock.
    private void Drop()
    {
        while (_waiting is not null && _waiting.TryDequeue(out byte[]? letter))
        {
            _undelivered(letter);
        }

        _waitingBytes = 0;
    }
}
