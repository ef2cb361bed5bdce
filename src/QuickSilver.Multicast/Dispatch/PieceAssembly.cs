using QuickSilver.Core.Alarms;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Dispatch;

// Puts packets together that came in pieces, and dispatches them like any other. The packet was lost before, so it is asked for again if a
// piece is: what is incomplete may be dropped at any time, and the oldest is when there is no room.
//
// What goes wrong: a member of one view sends pieces of a packet of another, of which it is no member. A packet must be of the view of its
// pieces, whose key it was sealed under.
internal sealed class PieceAssembly : IPacketHandler, IDisposable
{
    private const int MostPackets = 64;
    private const int MostBytes = 1 << 20;
    private static readonly TimeSpan MostAge = TimeSpan.FromSeconds(1);

    private readonly NodeContext _context;
    private readonly PacketDispatcher _dispatcher;
    // Gives back what is not used any more.
    private readonly Alarm _rest;
    // In the order in which they began.
    private readonly List<Assembly> _begun = [];
    private int _bytes;
    // Complete packets, back to back: a block for each would use up the memory, as they are kept for others.
    private Lease? _block;
    private int _used;

    public PieceAssembly(NodeContext context, PacketDispatcher dispatcher)
    {
        _context = context;
        _dispatcher = dispatcher;
        _rest = new Alarm(Rest);
    }

    private sealed class Assembly(NodeKey sender, in PacketHeader first, int wholeBytes, int stride, TimeSpan at)
    {
        private readonly ulong[] _came = new ulong[PiecePacket.MostPieces / 64];

        public NodeKey Sender { get; } = sender;
        public long Number { get; } = first.Sequence;
        public ulong Region { get; } = first.Region;
        public uint View { get; } = first.View;
        public int Stride { get; } = stride;
        public TimeSpan At { get; } = at;
        public byte[] Whole { get; } = new byte[wholeBytes];
        public int Left { get; private set; } = PiecePacket.CountOf(wholeBytes, stride);

        public bool TryAdd(in PiecePacket piece)
        {
            ref ulong word = ref _came[piece.Index / 64];
            ulong bit = 1UL << (piece.Index % 64);
            if ((word & bit) != 0)
            {
                return false;
            }

            word |= bit;
            Left--;
            piece.Content.CopyTo(Whole.AsSpan(piece.Index * Stride));
            return true;
        }
    }

    public DropReason OnPacket(in PacketHeader header, NodeKey sender)
    {
        if (!_context.Directory.Contains(sender))
        {
            return DropReason.UnknownSender;
        }

        if (!PiecePacket.TryRead(header.Body, out var piece))
        {
            return DropReason.Malformed;
        }

        long number = header.Sequence;
        ulong region = header.Region;
        uint view = header.View;
        var assembly = _begun.Find(one => one.Number == number && one.Sender == sender && one.Region == region && one.View == view);
        if (assembly is null)
        {
            MakeRoom(piece.WholeBytes);
            assembly = new Assembly(sender, header, piece.WholeBytes, piece.Stride, _context.Environment.Now);
            _begun.Add(assembly);
            _bytes += piece.WholeBytes;
            RestLater();
        }
        else if (assembly.Whole.Length != piece.WholeBytes || assembly.Stride != piece.Stride)
        {
            return DropReason.Malformed;
        }

        if (!assembly.TryAdd(piece))
        {
            return DropReason.Duplicate;
        }

        if (assembly.Left > 0)
        {
            return DropReason.None;
        }

        Remove(assembly);
        return Dispatch(assembly);
    }

    public void Dispose()
    {
        _context.Environment.Cancel(_rest);
        _begun.Clear();
        LeaveBlock();
    }

    private void RestLater()
    {
        if (!_rest.IsPending)
        {
            _context.Environment.Schedule(_rest, MostAge);
        }
    }

    private void Rest()
    {
        MakeRoom(0);
        LeaveBlock();
        if (_begun.Count > 0)
        {
            RestLater();
        }
    }

    private void LeaveBlock()
    {
        _block?.Release();
        _block = null;
        _used = 0;
    }

    private DropReason Dispatch(Assembly assembly)
    {
        byte[] whole = assembly.Whole;
        ulong cluster = _context.Options.ClusterId;
        var refused = _context.Options.IsSealed
            ? PacketHeader.ValidateFields(whole, cluster)
            : PacketHeader.Validate(whole, cluster);
        if (refused != DropReason.None)
        {
            return refused;
        }

        var header = new PacketHeader(whole);
        if (header.Kind != PacketKind.Data || header.Length != whole.Length
            || header.Region != assembly.Region || header.View != assembly.View)
        {
            return DropReason.Malformed;
        }

        if (!TryPlace(whole))
        {
            return DropReason.NoMemory;
        }

        int at = _used - whole.Length;
        _context.Counters.PiecesJoined++;
        return _dispatcher.Dispatch(new PacketHeader(_block!.Span[at.._used]), _block, at);
    }

    private bool TryPlace(byte[] whole)
    {
        if (_block is null || SlabPool.BlockBytes - _used < whole.Length)
        {
            LeaveBlock();
            _block = _context.Environment.Buffers.TryRent();
        }

        if (_block is null)
        {
            return false;
        }

        whole.CopyTo(_block.Span[_used..]);
        _used += whole.Length;
        return true;
    }

    private void MakeRoom(int bytes)
    {
        var now = _context.Environment.Now;
        while (_begun.Count > 0 && (_begun.Count >= MostPackets || _bytes + bytes > MostBytes || now - _begun[0].At > MostAge))
        {
            Remove(_begun[0]);
        }
    }

    private void Remove(Assembly assembly)
    {
        _begun.Remove(assembly);
        _bytes -= assembly.Whole.Length;
    }
}
