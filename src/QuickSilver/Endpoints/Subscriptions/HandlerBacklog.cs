namespace QuickSilver.Endpoints.Subscriptions;

// The messages and gaps that an endpoint buffered before its first handlers were attached, in the order of arrival. The thread that
// attaches the handlers fills it, and the core thread delivers it once.
internal sealed class HandlerBacklog<T>(HandlerEndpoint<T>[] handlers)
{
    private readonly List<Entry> _entries = [];

    public void Add(in Message<T> message) => _entries.Add(new Entry(message, default, IsGap: false));

    public void Add(in GapNotice gap) => _entries.Add(new Entry(default, gap, IsGap: true));

    /// <summary>
    /// Core thread. Delivers until the endpoint is cancelled, also by a handler in the middle. The rest is then reported as gaps, and
    /// returned.
    /// </summary>
    public UnhandledMessages? Deliver(TopicEndpoint endpoint)
    {
        UnhandledMessages? unhandled = null;
        foreach (var entry in _entries)
        {
            if (endpoint.State == EndpointState.Cancelled && !entry.IsGap)
            {
                (unhandled ??= new UnhandledMessages()).Add(entry.Message.Sender, entry.Message.Sequence);
            }
            else
            {
                Deliver(endpoint, entry);
            }
        }

        foreach (var gap in unhandled?.Ranges() ?? [])
        {
            Array.ForEach(handlers, handler => handler.Notify(gap));
        }

        return unhandled;
    }

    private void Deliver(TopicEndpoint endpoint, in Entry entry)
    {
        foreach (var handler in handlers)
        {
            if (endpoint.State == EndpointState.Cancelled)
            {
                return;
            }

            if (entry.IsGap)
            {
                handler.Notify(entry.Gap);
            }
            else
            {
                handler.Deliver(entry.Message);
            }
        }
    }

    private readonly record struct Entry(Message<T> Message, GapNotice Gap, bool IsGap);
}
