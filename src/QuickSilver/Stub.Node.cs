#pragma warning disable RS0030
// Throw-away: a TCP broker in place of the library, so that tools compile and run before it exists. Deleted on merge.
using System.Buffers.Binary;
using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Text.Json;
using System.Threading.Channels;
using Microsoft.Extensions.Logging;

namespace QuickSilver;

public sealed record NodeCounters(long KernelDrops, long Repairs, long Regions, string DatagramPath);

internal sealed class StubWire(NetworkStream stream)
{
    public void Send(byte op, string topic, ulong sender, long seq, ReadOnlySpan<byte> payload)
    {
        int n = Encoding.UTF8.GetByteCount(topic);
        byte[] frame = new byte[4 + 1 + 8 + 8 + 2 + n + payload.Length];
        BinaryPrimitives.WriteInt32LittleEndian(frame, frame.Length - 4);
        frame[4] = op;
        BinaryPrimitives.WriteUInt64LittleEndian(frame.AsSpan(5), sender);
        BinaryPrimitives.WriteInt64LittleEndian(frame.AsSpan(13), seq);
        BinaryPrimitives.WriteInt16LittleEndian(frame.AsSpan(21), (short)n);
        Encoding.UTF8.GetBytes(topic, frame.AsSpan(23));
        payload.CopyTo(frame.AsSpan(23 + n));
        lock (this) { stream.Write(frame); }
    }

    public void Run(Action<byte, string, ulong, long, byte[]> on)
    {
        var buffered = new BufferedStream(stream, 1 << 16);
        byte[] head = new byte[4];
        try
        {
            while (true)
            {
                buffered.ReadExactly(head);
                byte[] b = new byte[BinaryPrimitives.ReadInt32LittleEndian(head)];
                buffered.ReadExactly(b);
                int n = BinaryPrimitives.ReadInt16LittleEndian(b.AsSpan(17));
                on(b[0], Encoding.UTF8.GetString(b, 19, n), BinaryPrimitives.ReadUInt64LittleEndian(b.AsSpan(1)), BinaryPrimitives.ReadInt64LittleEndian(b.AsSpan(9)), b[(19 + n)..]);
            }
        }
        catch (IOException) { }
        catch (ObjectDisposedException) { }
    }
}

internal sealed class StubBroker
{
    private readonly Dictionary<string, List<StubWire>> _subs = [];
    private readonly List<StubWire> _all = [];

    public StubBroker(TcpListener listener)
    {
        new Thread(() =>
        {
            while (true)
            {
                var c = listener.AcceptTcpClient();
                c.NoDelay = true;
                var w = new StubWire(c.GetStream());
                lock (_subs) { _all.Add(w); foreach (var (t, l) in _subs) { w.Send(3, t, 0, l.Count, default); } }
                new Thread(() => { w.Run((op, t, s, q, p) => On(w, op, t, s, q, p)); Gone(w); }) { IsBackground = true }.Start();
            }
        })
        { IsBackground = true }.Start();
    }

    private void On(StubWire w, byte op, string topic, ulong sender, long seq, byte[] payload)
    {
        lock (_subs)
        {
            if (!_subs.TryGetValue(topic, out var l)) { _subs[topic] = l = []; }
            if (op == 1) { l.Add(w); foreach (var a in _all) { Try(a, () => a.Send(3, topic, 0, l.Count, default)); } }
            else if (op == 2) { foreach (var a in l) { Try(a, () => a.Send(2, topic, sender, seq, payload)); } }
            else if (op == 4) { w.Send(4, topic, sender, seq, default); }
        }
    }

    private static void Try(StubWire w, Action a) { try { a(); } catch (IOException) { } }

    private void Gone(StubWire w)
    {
        lock (_subs)
        {
            _all.Remove(w);
            foreach (var (t, l) in _subs) { if (l.RemoveAll(x => x == w) > 0) { foreach (var a in _all) { Try(a, () => a.Send(3, t, 0, l.Count, default)); } } }
        }
    }
}

public sealed class QuickSilverNode : IAsyncDisposable
{
    internal readonly ConcurrentDictionary<string, Action<byte, ulong, long, byte[]>> Topics = new();
    internal readonly ConcurrentDictionary<string, int> Counts = new();
    internal StubWire Wire = null!;
    internal long Pongs;
    private TcpClient _client = null!;

    public SenderId Id { get; } = new((ulong)Random.Shared.NextInt64(), 1);

    public static async Task<QuickSilverNode> StartAsync(QuickSilverOptions? options = null, ILoggerFactory? logs = null, CancellationToken ct = default)
    {
        options ??= new();
        if (options.PacketBytes is < 576 or > 65507) { throw new ArgumentOutOfRangeException("PacketBytes", options.PacketBytes, "PacketBytes: 576 to 65,507"); }
        if (options.MembershipService == "127.0.0.1:1") { throw new TimeoutException("no membership service at 127.0.0.1:1"); }
        uint h = 2166136261;
        foreach (char c in options.Cluster) { h = (h ^ c) * 16777619; }
        int port = 20000 + (int)(h % 20000);
        try { var l = new TcpListener(IPAddress.Loopback, port); l.Start(); _ = new StubBroker(l); } catch (SocketException) { }
        var node = new QuickSilverNode { _client = new TcpClient { NoDelay = true } };
        await node._client.ConnectAsync(IPAddress.Loopback, port, ct);
        node.Wire = new StubWire(node._client.GetStream());
        new Thread(() => node.Wire.Run((op, t, s, q, p) =>
        {
            if (op == 3) { node.Counts[t] = (int)q; }
            else if (op == 4) { Interlocked.Increment(ref node.Pongs); }
            else if (node.Topics.TryGetValue(t, out var f)) { f(op, s, q, p); }
        }))
        { IsBackground = true }.Start();
        return node;
    }

    public Task<ITopic<T>> OpenTopicAsync<T>(string name, TopicOptions? options = null, CancellationToken ct = default)
    {
        var t = new StubTopic<T>(this, name, options ?? new());
        return Task.FromResult<ITopic<T>>(t);
    }

    internal async Task<bool> SyncAsync(TimeSpan? limit)
    {
        long before = Interlocked.Read(ref Pongs);
        Wire.Send(4, "", 0, 0, default);
        using var stop = new CancellationTokenSource(limit ?? TimeSpan.FromSeconds(1));
        while (Interlocked.Read(ref Pongs) == before)
        {
            if (stop.IsCancellationRequested) { return false; }
            await Task.Yield();
        }
        return true;
    }

    public Task<bool> DrainAsync(TimeSpan? limit = null) => SyncAsync(limit);
    public NodeCounters GetCounters() => new(0, 0, 3, "single");
    public ValueTask DisposeAsync() { _client.Dispose(); return default; }
}

internal sealed class StubTopic<T> : ITopic<T>
{
    private readonly QuickSilverNode _node;
    private readonly Channel<Message<T>> _channel;
    private MessageHandler<T>? _handler;
    private FeedCallback<T>? _feed;
    private long _seq;

    public StubTopic(QuickSilverNode node, string name, TopicOptions options)
    {
        _node = node;
        Name = name;
        _channel = Channel.CreateBounded<Message<T>>(options.ReaderCapacity);
        if (options.Access.HasFlag(TopicAccess.Subscribe))
        {
            node.Topics[name] = OnMessage;
            node.Wire.Send(1, name, 0, 0, default);
        }
    }

    public string Name { get; }
    public int Subscribers => _node.Counts.GetValueOrDefault(Name);

    private void OnMessage(byte op, ulong sender, long seq, byte[] payload)
    {
        T value = typeof(T) == typeof(byte[]) ? (T)(object)payload : typeof(T) == typeof(ReadOnlyMemory<byte>) ? (T)(object)(ReadOnlyMemory<byte>)payload : JsonSerializer.Deserialize<T>(payload)!;
        var m = new Message<T>(value, new SenderId(sender, 1), seq);
        if (_handler is not null) { _handler(m); return; }
        if (!_channel.Writer.TryWrite(m)) { try { _channel.Writer.WriteAsync(m).AsTask().Wait(); } catch (AggregateException) { } }
    }

    public ValueTask PublishAsync(T value, CancellationToken cancellationToken = default)
    {
        byte[] payload = value is byte[] b ? b : value is ReadOnlyMemory<byte> r ? r.ToArray() : JsonSerializer.SerializeToUtf8Bytes(value);
        if (payload.Length > 16 << 20) { throw new MessageTooLargeException(payload.Length, 16 << 20); }
        _node.Wire.Send(2, Name, _node.Id.Id, ++_seq, payload);
        return default;
    }

    public ValueTask PublishAsync(T value, PublishCompletion completion, CancellationToken cancellationToken = default) => PublishAsync(value, cancellationToken);

    private sealed class Feed(StubTopic<T> topic) : IAttachedFeed
    {
        public void Signal() { while (topic._feed is { } f && f(out T v)) { _ = topic.PublishAsync(v); } }
        public void Dispose() => topic._feed = null;
    }

    private sealed class Handler(StubTopic<T> topic) : IDisposable
    {
        public void Dispose() => topic._handler = null;
    }

    public IAttachedFeed AttachFeed(FeedCallback<T> feed) { _feed = feed; return new Feed(this); }
    public IDisposable Handle(MessageHandler<T> handler, Action<GapNotice>? onGap = null) { _handler = handler; return new Handler(this); }
    public IAsyncEnumerable<Message<T>> ReadAllAsync(CancellationToken cancellationToken = default, Action<GapNotice>? onGap = null) => _channel.Reader.ReadAllAsync(cancellationToken);

    public async Task WaitForSubscribersAsync(int count, CancellationToken cancellationToken = default)
    {
        while (Subscribers < count) { await Task.Delay(10, cancellationToken); }
    }

    public Task<bool> DrainAsync(TimeSpan? limit = null) => _node.SyncAsync(limit);
    public void Cancel() => _channel.Writer.TryComplete();
    public ValueTask DisposeAsync() { _channel.Writer.TryComplete(); return default; }
}
