using System.Collections.Immutable;
using System.Net;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Views;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol.Requests;

// The first message on a stream. A node that was a member before says what it knows, so that a service that has lost its
// state numbers above it, and a service that still knows the node replays what it missed. SetTopic messages for all that
// the node has open follow, then JoinComplete.
internal sealed record JoinMessage : IControlMessage, IReadableMessage<JoinMessage>
{
    public const int MaxClusterBytes = 256;

    public int Kind => ControlMessageKind.Join;

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
    // How many live nodes it knows. A new service waits no longer than until as many are back.
    public int KnownNodes { get; init; }
    // Whether it answers questions for its vital signs: a node of an older version skips them.
    public bool ReportsSigns { get; init; }
    // That the key is this node's own (NodeProof); null: it has no proof.
    public byte[]? Proof { get; init; }
    // What people call the node (NodeName); empty: it is of a version without names.
    public string Name { get; init; } = "";
    // For observers of the cluster.
    public ProcessLabel Process { get; init; } = ProcessLabel.None;

    // What a service that did not remove them must know.
    public ImmutableArray<EndedLife> Ended { get; init; } = [];

    public bool WasMember => Known > 0;

    public bool IsProved => NodeProof.Holds(Proof, Node);

    public Origin Origin => new(Service, Known);

    public void Write(ControlBuffer buffer)
    {
        buffer.Text(1, Cluster);
        buffer.UInt64(2, (ulong)ProtocolVersion);
        ViewFields.WriteNode(buffer, 3, Node);
        ViewFields.WriteEndPoint(buffer, 4, EndPoint);
        buffer.Int64(5, Known);
        buffer.Int64(6, Confirmed);
        buffer.Fixed64(7, Service);
        buffer.Int64(8, JoinOrder);
        buffer.UInt64(9, (ulong)KnownNodes);
        ViewFields.WriteOpen(buffer, 10, Open);
        buffer.Bool(11, ReportsSigns);
        if (Proof is { } proof)
        {
            buffer.Bytes(12, proof);
        }

        buffer.Text(13, Name);
        ProcessFields.Write(buffer, 14, Process);
        foreach (var life in Ended)
        {
            EndedFields.Write(buffer, 15, life);
        }
    }

    public static JoinMessage Read(ReadOnlySpan<byte> body)
    {
        var reader = new ProtobufReader(body);
        string cluster = "";
        int version = 0;
        NodeKey node = default;
        IPEndPoint? endPoint = null;
        long known = 0, confirmed = 0, joinOrder = 0;
        ulong service = 0;
        int knownNodes = 0;
        bool reportsSigns = false;
        byte[]? proof = null;
        string name = "";
        var process = ProcessLabel.None;
        ImmutableArray<OpenView>.Builder? open = null;
        ImmutableArray<EndedLife>.Builder? ended = null;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: cluster = reader.ReadText(field, MaxClusterBytes); break;
                case 2: version = reader.ReadInt32(field, int.MaxValue); break;
                case 3: node = ViewFields.ReadNode(ref reader, field); break;
                case 4: endPoint = ViewFields.ReadEndPoint(ref reader, field); break;
                case 5: known = reader.ReadInt64(field); break;
                case 6: confirmed = reader.ReadInt64(field); break;
                case 7: service = reader.ReadFixed64(field); break;
                case 8: joinOrder = reader.ReadInt64(field); break;
                case 9: knownNodes = reader.ReadInt32(field, int.MaxValue); break;
                case 10: ViewFields.ReadOpen(ref reader, field, ref open, OpenView.MostPerNode); break;
                case 11: reportsSigns = reader.ReadBool(field); break;
                case 12: proof = ReadProof(ref reader, field); break;
                case 13: name = ProcessFields.ReadName(ref reader, field); break;
                case 14: process = ProcessFields.Read(ref reader, field); break;
                case 15: EndedFields.Read(ref reader, field, ref ended); break;
                default: reader.Skip(field); break;
            }
        }

        if (endPoint is null)
        {
            throw new ControlFormatException("The node has no address.");
        }

        if (known < 0 || confirmed < 0 || joinOrder < 0)
        {
            throw new ControlFormatException(
                $"Configuration {known}, confirmed {confirmed} and place {joinOrder}: negative numbers are not valid.");
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
            ReportsSigns = reportsSigns,
            Proof = proof,
            Name = name,
            Process = process,
            Ended = ended?.DrainToImmutable() ?? [],
        };
    }

    private static byte[] ReadProof(ref ProtobufReader reader, ControlField field)
    {
        var bytes = reader.ReadBytes(field);
        return bytes.Length == NodeProof.Bytes
            ? bytes.ToArray()
            : throw new ControlFormatException($"The proof of the key has {bytes.Length} bytes; expected {NodeProof.Bytes}.");
    }
}
