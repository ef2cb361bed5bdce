using QuickSilver.Core.Alarms;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes.Packets;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Multicast.Sealing;

namespace QuickSilver.Multicast.Dispatch;

// Passes each packet to the handler that is registered for its kind. Data packets go to their handler directly, because nearly all packets
// are data. A packet may arrive before the configuration that has its view. If its kind is worth it, it is kept, and dispatched again
// after each configuration.
internal sealed class PacketDispatcher : IPacketHandler
{
    private readonly NodeContext _context;
    private readonly OpenViews _views;
    private readonly DataHandler _data;
    private readonly PacketWays _ways;
    private readonly PacketHandlers _handlers = new();
    // Null until such a packet comes.
    private UnknownViewBuffer? _unknown;
    private Alarm? _expiry;
    // Null until a packet comes in pieces.
    private PieceAssembly? _pieces;

    public PacketDispatcher(NodeContext context, OpenViews views, DataHandler data, PacketWays ways)
    {
        _context = context;
        _views = views;
        _data = data;
        _ways = ways;
    }

    /// <summary>The handler of data and announcements.</summary>
    public DataHandler Data => _data;

    public MulticastCounters Counters => _context.Counters;

    /// <summary>The handlers of the kinds other than data.</summary>
    public PacketHandlers Handlers => _handlers;

    public void BeginRun(IDatagramPort port)
    {
        _data.BeginRun();
        _ways.OnRun(port);
    }

    public int LookAhead(ReadOnlySpan<byte> packets, int length) => _data.LookAhead(packets, length);

    public void OnBatchEnd() => _views.OnBatchEnd();

    /// <summary>Dispatches a packet that has just arrived.</summary>
    public DropReason Dispatch(in PacketHeader header, Lease lease, int offset) => Dispatch(header, lease, offset, arrived: null);

    /// <summary>Keeps a sealed packet whose view is not known, if it is worth it, until its key may be there.</summary>
    public DropReason KeepSealed(in PacketHeader header, Lease lease, int offset) => Keep(header, lease, offset, _context.Environment.Now);

    /// <summary>Opens sealed packets that were kept; null: packets are not sealed.</summary>
    public KeyRing? Keys { get; init; }

    /// <summary>Dispatches the kept packets again, because a configuration has come that may have their views.</summary>
    public void ReplayUnknown()
    {
        // A packet that is kept again goes to the end; expired packets are removed meanwhile.
        int left = _unknown?.Count ?? 0;
        _data.BeginRun();
        _ways.OnReplay();
        while (left-- > 0 && _unknown!.TryTake(out var lease, out int offset, out int length, out var arrived))
        {
            var packet = lease.Span.Slice(offset, length);
            var header = new PacketHeader(packet);
            // One that was opened before and has waited for its view since has no tag any more.
            var refused = Keys is null || header.TagBytes == 0 ? DropReason.None : Keys.Open(packet);
            refused = refused == DropReason.None ? DispatchAgain(header, lease, offset, arrived)
                : refused == DropReason.UnknownView ? Keep(header, lease, offset, arrived)
                : refused;
            if (refused != DropReason.None)
            {
                Counters.Drop(refused);
            }

            lease.Release();
        }
    }

    public void Close()
    {
        _context.Environment.CancelIfMade(_expiry);
        _unknown?.Clear();
        _pieces?.Dispose();
    }

    /// <summary>Handles a piece of a packet.</summary>
    DropReason IPacketHandler.OnPacket(in PacketHeader header, NodeKey sender) =>
        (_pieces ??= new PieceAssembly(_context, this)).OnPacket(header, sender);

    private DropReason Hand(in PacketHeader header, Lease lease, int offset)
    {
        if (header.Kind == PacketKind.Data)
        {
            return _data.OnData(header, lease, offset);
        }

        if (header.Kind == PacketKind.Shared)
        {
            return _data.OnShared(header, lease, offset);
        }

        // All packets of this layer other than data concern reliable streams.
        if (new StreamClass(header.StreamClass) is not { IsKnown: true, IsReliable: true } && !PacketKinds.IsOfProtocol(header.Kind))
        {
            return DropReason.UnknownClass;
        }

        return _handlers.Find(header.Kind) is { } handler
            ? handler.OnPacket(header, new NodeKey(header.Sender, header.Incarnation))
            : DropReason.UnknownKind;
    }

    // Arrived: when a packet that was kept has come; null: it has just arrived.
    private DropReason Dispatch(in PacketHeader header, Lease lease, int offset, TimeSpan? arrived)
    {
        try
        {
            var refused = Hand(header, lease, offset);
            return refused == DropReason.UnknownView ? Keep(header, lease, offset, arrived ?? _context.Environment.Now) : refused;
        }
        catch (OutOfMemoryException)
        {
            // As if it had been lost: data is requested again, and control packets are repeated.
            _context.Shortage.OnRefused();
            return DropReason.NoMemory;
        }
    }

    // What escapes while a configuration is applied ends the node. A packet of a protocol is not worth that, whatever its handler throws.
    private DropReason DispatchAgain(in PacketHeader header, Lease lease, int offset, TimeSpan arrived)
    {
        try
        {
            return Dispatch(header, lease, offset, arrived);
        }
        catch (Exception exception) when (PacketKinds.IsOfProtocol(header.Kind))
        {
            MulticastLog.EarlyPacketFailed(_context.Log, exception, (int)header.Kind, header.Sender);
            return DropReason.Malformed;
        }
    }

    private DropReason Keep(in PacketHeader header, Lease lease, int offset, TimeSpan arrived)
    {
        var environment = _context.Environment;
        var now = environment.Now;
        if (!_handlers.KeepsEarly(header.Kind))
        {
            return DropReason.UnknownView;
        }

        _unknown ??= new UnknownViewBuffer(_context.Options.UnknownViewBytes, _context.Options.UnknownViewAge, Counters);
        if (!_unknown.TryKeep(environment.Buffers, now, arrived, lease.Span.Slice(offset, header.Length)))
        {
            return DropReason.UnknownView;
        }

        _expiry ??= new Alarm(ExpireUnknown);
        if (!_expiry.IsPending)
        {
            environment.Schedule(_expiry, _unknown.ExpiresAt!.Value - now);
        }

        return DropReason.None;
    }

    private void ExpireUnknown()
    {
        var environment = _context.Environment;
        _unknown!.Expire(environment.Now);
        if (_unknown.ExpiresAt is { } next)
        {
            environment.Schedule(_expiry!, next - environment.Now);
        }
    }
}
