using System.Collections.Immutable;
using System.Net;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Protocol.Requests;

// The first message on a stream. A node that was a member before says what it knows, so that a service that has lost its
// state numbers above it, and a service that still knows the node replays what it missed. SetTopic messages for all that
// the node has open follow, then JoinComplete.
internal sealed record JoinMessage : IControlMessage
{
    public const int MaxClusterBytes = 256;

    public static int Kind => ControlMessageKind.Join;

    public required string Cluster { get; init; }
    public required int ProtocolVersion { get; init; }
    public required NodeKey Node { get; init; }
    public required IPEndPoint EndPoint { get; init; }
    // The last configuration that the node has; 0: it was never a member.
    public long Known { get; init; }
    // The last that it confirmed, but for these views.
    public long Confirmed { get; init; }
    public ImmutableArray<OpenView> Open { get; init; } = [];
    // The life of the service that gave the last configuration: not of one that welcomed the node and gave it none.
    public ulong Service { get; init; }
    public long JoinOrder { get; init; }
    // How many live nodes it knows: a service that starts anew need not wait longer than until so many are back.
    public int KnownNodes { get; init; }

    public bool WasMember => Known > 0;

    public Origin Origin => new(Service, Known);

    public void Write(ProtoWriter writer)
    {
        writer.Text(1, Cluster);
        writer.UInt64(2, (ulong)ProtocolVersion);
        ViewFields.WriteNode(writer, 3, Node);
        ViewFields.WriteEndPoint(writer, 4, EndPoint);
        writer.Int64(5, Known);
        writer.Int64(6, Confirmed);
        writer.Fixed64(7, Service);
        writer.Int64(8, JoinOrder);
        writer.UInt64(9, (ulong)KnownNodes);
        ViewFields.WriteOpen(writer, 10, Open);
    }

    public static JoinMessage? Read(ReadOnlySpan<byte> body)
    {
        var reader = new ProtoReader(body);
        string cluster = "";
        int version = 0;
        NodeKey node = default;
        IPEndPoint? endPoint = null;
        long known = 0, confirmed = 0, joinOrder = 0;
        ulong service = 0;
        int knownNodes = 0;
        ImmutableArray<OpenView>.Builder? open = null;
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1: cluster = reader.Text(MaxClusterBytes); break;
                case 2: version = reader.Int32(int.MaxValue); break;
                case 3: node = ViewFields.ReadNode(ref reader); break;
                case 4: endPoint = ViewFields.ReadEndPoint(ref reader); break;
                case 5: known = reader.Int64(); break;
                case 6: confirmed = reader.Int64(); break;
                case 7: service = reader.Fixed64(); break;
                case 8: joinOrder = reader.Int64(); break;
                case 9: knownNodes = reader.Int32(int.MaxValue); break;
                case 10: ViewFields.ReadOpen(ref reader, ref open, OpenView.MostPerNode); break;
                default: reader.Skip(); break;
            }
        }

        if (reader.Failed || endPoint is null || known < 0 || confirmed < 0 || joinOrder < 0)
        {
            return null;
        }

        return new JoinMessage
        {
            Cluster = cluster,
            ProtocolVersion = version,
            Node = node,
            EndPoint = endPoint,
            Known = known,
            Confirmed = confirmed,
            Open = open?.ToImmutable() ?? [],
            Service = service,
            JoinOrder = joinOrder,
            KnownNodes = knownNodes,
        };
    }
}
