using System.Net;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Core.Transport;
using QuickSilver.Simulation.Machines;
using QuickSilver.Simulation.Machines.Time;

namespace QuickSilver.Simulation.Network.Streams;

// One end of a connection. What the network brings is noted at once; the handler hears of it when the node's core thread
// comes to it, all that has come until then in one go.
internal sealed class SimulatedStream : NodeEvent, IControlStream
{
    private const int MostUnconsumedBytes = 64 << 20;

    private readonly SimulatedConnection _connection;
    private readonly ReceivedBytes _received = new();
    private bool _connectedToReport;
    private bool _broken;
    private bool _handleScheduled;
    private string? _endReason;

    internal SimulatedStream(SimulatedConnection connection, ISimulatedLife life, IPEndPoint remote)
        : base(life)
    {
        _connection = connection;
        RemoteEndPoint = remote;
    }

    public IPEndPoint? RemoteEndPoint { get; }

    public PeerIdentity? Peer { get; internal init; }

    public long PendingBytes => IsClosed ? 0 : Outgoing?.PendingBytes ?? 0;

    internal override CompletionKind Kind => CompletionKind.Bytes;

    internal IControlStreamHandler? Handler { get; set; }

    internal StreamPipe? Outgoing { get; set; }

    internal StreamPipe? Incoming { get; set; }

    internal bool IsClosed { get; private set; }

    /// <summary>The systems have shaken hands, whether or not the handler has been notified.</summary>
    internal bool IsConnected { get; private set; }

    public void Send(ReadOnlySpan<byte> bytes) => SendShared(bytes.ToArray());

    public void SendShared(byte[] bytes)
    {
        Life.Cluster.Time.CheckThread();
        if (IsClosed || _broken)
        {
            return;
        }

        double raised = Life.Node.Faults.RaiseProbability;
        bool isLie = raised > 0 && _connection.Client == this && _connection.Random.Chance(raised);
        Outgoing!.Send(isLie ? RaisedMessage.Of(bytes, _connection.Random) : bytes);
    }

    public void Close()
    {
        Life.Cluster.Time.CheckThread();
        if (!IsClosed)
        {
            Shut();
            Outgoing?.End("the peer closed the stream");
        }
    }

    /// <summary>Closes without notice to either side.</summary>
    internal void Shut()
    {
        IsClosed = true;
        _received.Clear();
        Life.Endpoints.Connections.Remove(_connection);
    }

    /// <summary>The network failed: what has not been read is lost.</summary>
    internal void Fail(string reason)
    {
        if (!IsClosed && !_broken)
        {
            _broken = true;
            _endReason = reason;
            ScheduleHandling();
        }
    }

    internal void MarkAccepted()
    {
        IsConnected = true;
        Outgoing!.Report(StreamItemKind.Connected, "");
        Outgoing.Open();
    }

    internal void Arrived(StreamItem item)
    {
        if (IsClosed || _broken)
        {
            return;
        }

        switch (item.Kind)
        {
            case StreamItemKind.Connected:
                _connectedToReport = true;
                IsConnected = true;
                break;
            case StreamItemKind.Bytes:
                _received.Add(item.Bytes);
                break;
            case StreamItemKind.End:
                _endReason = item.Reason;
                break;
        }

        ScheduleHandling();
    }

    private void ScheduleHandling()
    {
        if (!_handleScheduled)
        {
            _handleScheduled = true;
            Life.Admit(this);
        }
    }

    // The core thread comes to it.
    internal override void Execute()
    {
        _handleScheduled = false;
        if (_connectedToReport && !IsClosed && !_broken)
        {
            _connectedToReport = false;
            Life.Trace(TraceKind.StreamEvent, 1);
            Outgoing!.Open();
            Handler!.OnConnected(this);
        }

        while (_received.HasArrived && !IsClosed && !_broken)
        {
            Offer();
        }

        if (_endReason is { } reason && !IsClosed)
        {
            Shut();
            Outgoing?.Cut();
            Life.Trace(TraceKind.StreamEvent, 2);
            Handler!.OnClosed(this, reason);
        }
    }

    private void Offer()
    {
        int read = _received.TakeNext();
        var span = _received.Span;
        Life.Trace(TraceKind.StreamBytes, TraceHash.Of(span[^read..]));
        int consumed = Handler!.OnBytes(this, span);
        if (consumed < 0 || consumed > span.Length)
        {
            throw new InvalidOperationException($"OnBytes returned {consumed} consumed bytes of {span.Length}.");
        }

        if (IsClosed)
        {
            return;
        }

        _received.Consume(consumed);
        if (_received.Count > MostUnconsumedBytes)
        {
            throw new InvalidOperationException($"A handler left {_received.Count} bytes unconsumed. It must close the stream instead.");
        }

        Incoming!.OnRead(read);
    }
}
