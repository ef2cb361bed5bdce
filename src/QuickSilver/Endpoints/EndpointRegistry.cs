using QuickSilver.Diagnostics;
using QuickSilver.Endpoints.Subscriptions;

namespace QuickSilver.Endpoints;

// The endpoints that must end when the core thread of their node has ended, so that no caller waits forever for a thread that a handler
// blocks. The list is linked through the endpoints, because a registration with a cancellation token costs 96 bytes for each. Methods can
// be called from any thread.
internal sealed class EndpointRegistry
{
    private readonly Lock _lock = new();
    private TopicEndpoint? _first;
    private bool _isEnded;

    /// <summary>Called once, before the user gets the endpoint. Ends it at once if the node has ended.</summary>
    public void Add(TopicEndpoint endpoint)
    {
        lock (_lock)
        {
            if (!_isEnded)
            {
                endpoint.NextRegistered = _first;
                if (_first is not null)
                {
                    _first.PreviousRegistered = endpoint;
                }

                _first = endpoint;
                return;
            }
        }

        EndOne(endpoint);
    }

    public void Remove(TopicEndpoint endpoint)
    {
        lock (_lock)
        {
            bool isRegistered = endpoint.PreviousRegistered is not null || ReferenceEquals(_first, endpoint);
            if (_isEnded || !isRegistered)
            {
                return;
            }

            if (endpoint.PreviousRegistered is { } previous)
            {
                previous.NextRegistered = endpoint.NextRegistered;
            }
            else
            {
                _first = endpoint.NextRegistered;
            }

            if (endpoint.NextRegistered is { } next)
            {
                next.PreviousRegistered = endpoint.PreviousRegistered;
            }

            endpoint.NextRegistered = null;
            endpoint.PreviousRegistered = null;
        }
    }

    /// <summary>A handler that runs now; null if there is none.</summary>
    public RunningHandler? FindRunning()
    {
        lock (_lock)
        {
            for (var endpoint = _first; endpoint is not null; endpoint = endpoint.NextRegistered)
            {
                if (endpoint.Subscription?.FindRunning() is { } running)
                {
                    return running;
                }
            }

            return null;
        }
    }

    /// <summary>Reports each endpoint with messages that wait for its reader: the name of its topic and their number.</summary>
    public void ReadWaiting(Action<string, long> read)
    {
        lock (_lock)
        {
            for (var endpoint = _first; endpoint is not null; endpoint = endpoint.NextRegistered)
            {
                if (endpoint.Subscription?.Waiting is > 0 and var waiting)
                {
                    read(endpoint.Name, waiting);
                }
            }
        }
    }

    /// <summary>Completes when the readers and consumers of endpoints that have ended have read what is buffered for them.</summary>
    public Task WhenRead()
    {
        var reading = new List<Task>();
        lock (_lock)
        {
            for (var endpoint = _first; endpoint is not null; endpoint = endpoint.NextRegistered)
            {
                reading.Add(endpoint.WhenRead());
            }
        }

        return Task.WhenAll(reading);
    }

    /// <summary>
    /// Ends all endpoints, because the core thread has ended. What their readers have not read is dropped. Returns those of which a reader
    /// has not seen that yet.
    /// </summary>
    public IReadOnlyList<TopicEndpoint> End()
    {
        var unread = new List<TopicEndpoint>();
        TopicEndpoint? first;
        lock (_lock)
        {
            // From here on only this thread uses the links.
            _isEnded = true;
            first = _first;
            _first = null;
        }

        for (var endpoint = first; endpoint is not null; endpoint = endpoint.NextRegistered)
        {
            if (!endpoint.WhenRead().IsCompleted)
            {
                unread.Add(endpoint);
            }

            EndOne(endpoint);
        }

        return unread;
    }

    private static void EndOne(TopicEndpoint endpoint) => endpoint.OnFailed(AfterDispose.OfNode());
}
