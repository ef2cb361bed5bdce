using QuickSilver.Endpoints;

namespace QuickSilver.Nodes;

// The endpoints that are to end when their node's core thread has ended, whatever it does: nobody waits for ever for a thread
// that a handler blocks. A list through the endpoints themselves: a cancellation's registration is 96 bytes for each. From any
// thread.
internal sealed class EndpointRoll
{
    private readonly Lock _lock = new();
    private TopicEndpoint? _first;
    private bool _isEnded;

    /// <summary>Once, before the endpoint is given to its user. Ends it at once if the node has ended.</summary>
    public void Enter(TopicEndpoint endpoint)
    {
        lock (_lock)
        {
            if (!_isEnded)
            {
                endpoint.NextInRoll = _first;
                if (_first is not null)
                {
                    _first.PreviousInRoll = endpoint;
                }

                _first = endpoint;
                return;
            }
        }

        EndOne(endpoint);
    }

    public void Leave(TopicEndpoint endpoint)
    {
        lock (_lock)
        {
            bool isIn = endpoint.PreviousInRoll is not null || ReferenceEquals(_first, endpoint);
            if (_isEnded || !isIn)
            {
                return;
            }

            if (endpoint.PreviousInRoll is { } previous)
            {
                previous.NextInRoll = endpoint.NextInRoll;
            }
            else
            {
                _first = endpoint.NextInRoll;
            }

            if (endpoint.NextInRoll is { } next)
            {
                next.PreviousInRoll = endpoint.PreviousInRoll;
            }

            endpoint.NextInRoll = null;
            endpoint.PreviousInRoll = null;
        }
    }

    /// <summary>The core thread runs no more.</summary>
    public void End()
    {
        TopicEndpoint? first;
        lock (_lock)
        {
            // From here on the links are this thread's alone.
            _isEnded = true;
            first = _first;
            _first = null;
        }

        for (var endpoint = first; endpoint is not null; endpoint = endpoint.NextInRoll)
        {
            EndOne(endpoint);
        }
    }

    private static void EndOne(TopicEndpoint endpoint) => endpoint.OnFailed(new ObjectDisposedException(nameof(QuickSilverNode)));
}
