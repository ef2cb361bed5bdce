using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Paths;

// Cuts packets that are larger than a path carries. Each piece is valid until the next one is cut. A piece belongs to the view of its
// packet: where packets are sealed, it is sealed under the same key.
internal sealed class PieceCutter(NodeContext context)
{
    private readonly byte[] _piece = new byte[context.Options.PacketBytes];
    private long _cut;

    /// <summary>Begins to cut a packet into pieces of at most so many bytes.</summary>
    public Cut Begin(ReadOnlySpan<byte> whole, int mostBytes) => new(this, whole, mostBytes - PiecePacket.HeadBytes, ++_cut);

    internal readonly ref struct Cut(PieceCutter cutter, ReadOnlySpan<byte> whole, int stride, long number)
    {
        private readonly ReadOnlySpan<byte> _whole = whole;

        public int Count => PiecePacket.CountOf(_whole.Length, stride);

        public ReadOnlySpan<byte> this[int index]
        {
            get
            {
                int bytes = PiecePacket.Write(cutter._piece, cutter.TemplateOf(new PacketHeader(_whole)), number, _whole, stride, index);
                return cutter._piece.AsSpan(0, bytes);
            }
        }
    }

    private PacketTemplate TemplateOf(in PacketHeader whole) =>
        new(context.Options.ClusterId, context.Self.Id, context.Self.Incarnation, whole.Region, whole.View);
}
