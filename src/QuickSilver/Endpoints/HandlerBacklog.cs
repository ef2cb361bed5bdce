namespace QuickSilver.Endpoints;

// What an endpoint buffered before its first handlers came, on its way to them: messages and gaps in the order in which they
// came. Filled by whoever attaches the handlers, delivered once by the core thread.
internal sealed class HandlerBacklog<T>(HandlerEndpoint<T>[] handlers)
{
    private readonly List<Entry> _entries = [];

    public void Add(in Message<T> message) => _entries.Add(new Entry(message, default, IsGap: false));

    public void Add(in GapNotice gap) => _entries.Add(new Entry(default, gap, IsGap: true));

    /// <summary>Core thread. Goes on while the endpoint is in use: one of the messages may make a handler cancel it.</summary>
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
