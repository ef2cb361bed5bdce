namespace QuickSilver.Endpoints;

// The messages and gaps that an endpoint buffered before its first handlers were attached, in the order of arrival. The thread that
// attaches the handlers fills it, and the core thread delivers it once.
internal sealed class HandlerBacklog<T>(HandlerEndpoint<T>[] handlers)
{
    private readonly List<Entry> _entries = [];

    public void Add(in Message<T> message) => _entries.Add(new Entry(message, default, IsGap: false));

    public void Add(in GapNotice gap) => _entries.Add(new Entry(default, gap, IsGap: true));

    /// <summary>Core thread. Delivers while the endpoint is in use: a handler may cancel it in the middle.</summary>
    public void Deliver(TopicEndpoint endpoint)
    {
        foreach (var entry in _entries)
        {
            foreach (var handler in handlers)
            {
                if (endpoint.State >= EndpointState.Cancelled)
                {
                    return;
                }

                if (entry.IsGap)
                {
                    handler.Tell(entry.Gap);
                }
                else
                {
                    handler.Deliver(entry.Message);
                }
            }
        }
    }

    private readonly record struct Entry(Message<T> Message, GapNotice Gap, bool IsGap);
}
