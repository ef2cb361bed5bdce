using System.Buffers.Binary;
using System.Collections.Immutable;
using QuickSilver.Diagnostics;
using QuickSilver.Endpoints;
using QuickSilver.Membership.Contracts;

namespace QuickSilver.Inboxes;

// What other nodes send to this node alone: replies to its requests, pieces of a state that it asked for.
//
// The inbox is a topic of its own, named by the node, to which the node alone subscribes. It is pinned, so it has a region of its own and
// does not divide the regions of other topics. It is opened once, before the node first asks for anything, so that no later request changes
// a view. A letter names the box within the node that it is for: a requester, or a state.
//
// A node that answers opens a publisher of the asking node's inbox, once (InboxRoutes).
internal sealed class Inbox : IAsyncDisposable
{
    /// <summary>The guarantee of inboxes: reliable, and pinned.</summary>
    public const string Guarantee = InboxName.Guarantee;

    /// <summary>A letter begins with the number of its box.</summary>
    public const int HeaderBytes = sizeof(int);

    /// <summary>
    /// Boxes are numbered from here. Versions whose requesters read no faults number theirs from 1, so a responder knows which they are.
    /// </summary>
    public const int FirstBox = 1 << 30;

    private readonly IEndpointNode _core;
    private readonly Func<string, TopicAccess, Task<TopicEndpoint<ReadOnlyMemory<byte>>>> _open;
    private readonly Lock _lock = new();
    private Task<TopicEndpoint<ReadOnlyMemory<byte>>>? _opened;
    // Replaced as a whole, so that the core thread reads it without a lock.
    private volatile ImmutableDictionary<int, ILetterBox> _boxes = ImmutableDictionary<int, ILetterBox>.Empty;
    private int _lastBox = FirstBox - 1;
    private long _unknown;
    private long _unasked;
    private volatile Exception? _end;

    /// <param name="core">The node.</param>
    /// <param name="open">Opens an endpoint of a topic of bytes with the guarantee of inboxes.</param>
    public Inbox(IEndpointNode core, Func<string, TopicAccess, Task<TopicEndpoint<ReadOnlyMemory<byte>>>> open)
    {
        _core = core;
        _open = open;
        Routes = new InboxRoutes(core, node => open(NameOf(node), TopicAccess.Publish), OnUndelivered);
    }

    /// <summary>The ways from this node to the inboxes of others.</summary>
    public InboxRoutes Routes { get; }

    /// <summary>From any thread: why nothing comes any more; null while it does.</summary>
    public Exception? End => _end;

    /// <summary>From any thread: the letters for boxes that do not exist, such as replies to a requester that was disposed.</summary>
    public long Unknown => Volatile.Read(ref _unknown);

    public static string NameOf(NodeId node) => InboxName.Of(node.ToString());

    /// <summary>From any thread: opens the inbox of this node if it is not open yet.</summary>
    public async Task OpenAsync(NodeId self, CancellationToken cancellationToken)
    {
        Task<TopicEndpoint<ReadOnlyMemory<byte>>> opening;
        lock (_lock)
        {
            if (_opened is null || _opened.IsFaulted || _opened.IsCanceled)
            {
                _opened = OpenAsync(NameOf(self));
            }

            opening = _opened;
        }

        await opening.WaitAsync(cancellationToken).ConfigureAwait(_core.ResumesInContext);
    }

    /// <summary>From any thread: adds a box. Returns its number, which the sender of a letter must name.</summary>
    public int Add(ILetterBox box)
    {
        lock (_lock)
        {
            _boxes = _boxes.Add(++_lastBox, box);
            return _lastBox;
        }
    }

    /// <summary>From any thread: adds a box of a protocol, which has the same number on all nodes. False: there is one.</summary>
    public bool TryAdd(int number, ILetterBox box)
    {
        lock (_lock)
        {
            bool isNew = !_boxes.ContainsKey(number);
            _boxes = isNew ? _boxes.Add(number, box) : _boxes;
            return isNew;
        }
    }

    public void Remove(int box)
    {
        lock (_lock)
        {
            _boxes = _boxes.Remove(box);
        }
    }

    /// <summary>Core thread: a box has dropped a letter, because it had not asked its sender. Returns how many were dropped so.</summary>
    public long CountUnasked() => ++_unasked;

    public async ValueTask DisposeAsync()
    {
        await Routes.DisposeAsync().ConfigureAwait(_core.ResumesInContext);
        if (_opened is { IsCompletedSuccessfully: true } opened)
        {
            await opened.Result.DisposeAsync().ConfigureAwait(_core.ResumesInContext);
        }
    }

    private async Task<TopicEndpoint<ReadOnlyMemory<byte>>> OpenAsync(string name)
    {
        var endpoint = await _open(name, TopicAccess.Subscribe).ConfigureAwait(_core.ResumesInContext);
        endpoint.SubscribeInline(OnLetter, onGap: null, OnEnded);
        return endpoint;
    }

    private void OnLetter(in Message<ReadOnlyMemory<byte>> message)
    {
        var letter = message.Value.Span;
        if (letter.Length >= HeaderBytes && _boxes.TryGetValue(BinaryPrimitives.ReadInt32LittleEndian(letter), out var box))
        {
            box.OnLetter(message.Sender, letter[HeaderBytes..]);
        }
        else
        {
            _unknown++;
        }
    }

    // Of a letter to a box of a protocol, the box here is that of the same protocol. Other boxes are the other node's.
    private void OnUndelivered(NodeId to, int box)
    {
        if (ProtocolLetters.IsOfProtocol(box))
        {
            _core.Run(() => _boxes.GetValueOrDefault(box)?.OnUndelivered(to));
        }
    }

    private void OnEnded(SubscriptionEnd end)
    {
        var error = end.Error ?? AfterDispose.OfNode();
        _end = error;
        foreach (var (_, box) in _boxes.OrderBy(static one => one.Key))
        {
            try
            {
                box.OnEnded(error);
            }
            catch (Exception exception)
            {
                // The others wait for what comes no more.
                ApiLog.LettersEndThrew(_core.Log, exception);
            }
        }
    }
}

// One of those for whom letters come. Called on the core thread, except at the end of a node whose core thread has ended.
internal interface ILetterBox
{
    /// <summary>The letter is valid during the call. It is not trusted.</summary>
    void OnLetter(NodeId sender, ReadOnlySpan<byte> letter);

    /// <summary>A letter from this box to the same box of another node was dropped.</summary>
    void OnUndelivered(NodeId to)
    {
    }

    /// <summary>Nothing comes any more.</summary>
    void OnEnded(Exception error);
}
