using System.Buffers.Binary;
using QuickSilver.Endpoints;

namespace QuickSilver.Inboxes;

// The ways from this node to the inboxes of nodes that it answers: one publisher for each. The least recently used are closed, so that a
// cluster whose members come and go costs no more than MaxRoutes. From any thread.
/// <param name="core">The node.</param>
/// <param name="open">Opens a publisher of the inbox of a node.</param>
/// <param name="undelivered">Called with the node and the box of a letter that was dropped, from any thread; it must not wait.</param>
internal sealed class InboxRoutes(
    IEndpointNode core, Func<NodeId, Task<TopicEndpoint<ReadOnlyMemory<byte>>>> open, Action<NodeId, int>? undelivered = null)
    : IAsyncDisposable
{
    public const int MaxRoutes = 1024;

    private readonly Lock _lock = new();
    private readonly Dictionary<NodeId, InboxRoute> _routes = [];
    private long _uses;
    private long _undelivered;
    private bool _isDisposed;

    /// <summary>The letters that were dropped because their node did not answer, or too many waited for it.</summary>
    public long Undelivered => Volatile.Read(ref _undelivered);

    public int Count
    {
        get
        {
            lock (_lock)
            {
                return _routes.Count;
            }
        }
    }

    /// <summary>
    /// Sends a letter, which is copied. Completes at once, unless the queue of this node is full: then when there is room. While the way is
    /// opened, letters wait, up to a limit. A letter that cannot be sent is counted, and so is one that the token withdraws.
    /// </summary>
    public ValueTask SendAsync(NodeId to, ReadOnlyMemory<byte> letter, CancellationToken cancellationToken = default)
    {
        if (RouteTo(to) is { } route)
        {
            return route.SendAsync(letter, cancellationToken);
        }

        OnUndelivered(to, letter);
        return default;
    }

    /// <summary>
    /// Completes when letters to the node do not have to wait for the way to be opened; false if it cannot be opened.
    /// </summary>
    public Task<bool> OpenAsync(NodeId to) => RouteTo(to)?.Opened ?? Task.FromResult(false);

    public ValueTask DisposeAsync()
    {
        InboxRoute[] routes;
        lock (_lock)
        {
            _isDisposed = true;
            routes = [.. _routes.Values];
            _routes.Clear();
        }

        foreach (var route in routes)
        {
            route.Close();
        }

        return default;
    }

    // Null at the end.
    private InboxRoute? RouteTo(NodeId to)
    {
        InboxRoute? route;
        List<InboxRoute>? closed = null;
        lock (_lock)
        {
            if (_isDisposed)
            {
                return null;
            }

            if (!_routes.TryGetValue(to, out route) || route.IsOver)
            {
                closed = MakeRoom(to);
                route = new InboxRoute(core, open(to), letter => OnUndelivered(to, letter));
                _routes[to] = route;
            }

            route.LastUse = ++_uses;
        }

        foreach (var one in closed ?? [])
        {
            one.Close();
        }

        return route;
    }

    // Called with each new route: those whose nodes are gone are closed then, and the least recently used if there are still too many.
    private List<InboxRoute>? MakeRoom(NodeId to)
    {
        List<NodeId>? over = null;
        NodeId? oldest = null;
        long oldestUse = long.MaxValue;
        foreach (var (node, route) in _routes)
        {
            if (route.IsOver || node == to)
            {
                (over ??= []).Add(node);
            }
            else if (route.LastUse < oldestUse)
            {
                (oldest, oldestUse) = (node, route.LastUse);
            }
        }

        if (_routes.Count - (over?.Count ?? 0) >= MaxRoutes)
        {
            (over ??= []).Add(oldest!.Value);
        }

        // Ascending by use, so that the order does not depend on that of the table.
        var closed = over?.ConvertAll(node => _routes[node]);
        over?.ForEach(node => _routes.Remove(node));
        closed?.Sort(static (a, b) => a.LastUse.CompareTo(b.LastUse));
        return closed;
    }

    private void OnUndelivered(NodeId to, ReadOnlyMemory<byte> letter)
    {
        Interlocked.Increment(ref _undelivered);
        if (letter.Length >= Inbox.HeaderBytes)
        {
            undelivered?.Invoke(to, BinaryPrimitives.ReadInt32LittleEndian(letter.Span));
        }
    }
}
