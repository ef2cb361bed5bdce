using System.Buffers.Binary;
using System.Collections.Immutable;
using QuickSilver.Groups.Ordering;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Groups.Protocol;

// A view as a payload, by which it comes to the application in its place between the messages. It does not leave the node. Little endian:
// the kind (1 byte), the configuration (8), and three lists of nodes: those that are members, that have joined, and that have left. A list
// is its length (4) and of each node its id (8) and incarnation (4).
internal static class ViewBody
{
    private const int KeyBytes = 12;

    public static byte[] Of(MemberView view)
    {
        byte[] body = new byte[1 + 8 + (3 * 4) + ((view.Members.Length + view.Joined.Length + view.Left.Length) * KeyBytes)];
        body[0] = (byte)GroupFrame.View;
        BinaryPrimitives.WriteInt64LittleEndian(body.AsSpan(1), view.Configuration);
        var rest = body.AsSpan(9);
        Write(ref rest, view.Members);
        Write(ref rest, view.Joined);
        Write(ref rest, view.Left);
        return body;
    }

    public static MemberView ToView(ulong topicId, ReadOnlySpan<byte> body)
    {
        var rest = body[9..];
        return new MemberView
        {
            TopicId = topicId,
            Configuration = BinaryPrimitives.ReadInt64LittleEndian(body[1..]),
            Members = Nodes(ref rest),
            Joined = Nodes(ref rest),
            Left = Nodes(ref rest),
        };
    }

    private static void Write(ref Span<byte> rest, ImmutableArray<NodeKey> nodes)
    {
        BinaryPrimitives.WriteInt32LittleEndian(rest, nodes.Length);
        rest = rest[4..];
        foreach (var node in nodes)
        {
            BinaryPrimitives.WriteUInt64LittleEndian(rest, node.Id);
            BinaryPrimitives.WriteUInt32LittleEndian(rest[8..], node.Incarnation);
            rest = rest[KeyBytes..];
        }
    }

    private static ImmutableArray<NodeKey> Nodes(ref ReadOnlySpan<byte> rest)
    {
        int count = BinaryPrimitives.ReadInt32LittleEndian(rest);
        rest = rest[4..];
        var nodes = ImmutableArray.CreateBuilder<NodeKey>(count);
        for (; count > 0; count--)
        {
            nodes.Add(new NodeKey(BinaryPrimitives.ReadUInt64LittleEndian(rest), BinaryPrimitives.ReadUInt32LittleEndian(rest[8..])));
            rest = rest[KeyBytes..];
        }

        return nodes.MoveToImmutable();
    }
}
