using System.Net;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Views;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Snapshots;

// Whether a node has answered.
internal enum SnapshotOutcome
{
    Reported = 0,
    // It knows the question, and has not answered in time.
    Silent = 1,
    // It is of a version that does not know the question.
    Unable = 2,
}

// One node, in the service's answer to an observer: its vital signs as they came. If it did not answer, since when it has not.
internal sealed record MemberSnapshotMessage : IControlMessage, IReadableMessage<MemberSnapshotMessage>
{
    public int Kind => ControlMessageKind.MemberSnapshot;

    public required NodeKey Node { get; init; }
    public required IPEndPoint EndPoint { get; init; }
    public SnapshotOutcome Outcome { get; init; }
    // Of a silent node, for how long it has not answered.
    public long SilentMillis { get; init; }
    // Of a silent node, how long ago it said anything.
    public long HeardMillis { get; init; }
    // The name of the node and its process, as it reported them when it joined.
    public string Name { get; init; } = "";
    public ProcessLabel Process { get; init; } = ProcessLabel.None;
    // Not decoded yet; empty unless the node has answered.
    public byte[] Signs { get; init; } = [];

    public void Write(ControlBuffer buffer)
    {
        ViewFields.WriteNode(buffer, 1, Node);
        ViewFields.WriteEndPoint(buffer, 2, EndPoint);
        buffer.UInt64(3, (ulong)Outcome);
        buffer.Int64(4, SilentMillis);
        buffer.Int64(5, HeardMillis);
        buffer.Bytes(6, Signs);
        buffer.Text(7, Name);
        ProcessFields.Write(buffer, 8, Process);
    }

    public static MemberSnapshotMessage Read(ReadOnlySpan<byte> body)
    {
        var reader = new ProtobufReader(body);
        NodeKey node = default;
        IPEndPoint? endPoint = null;
        int outcome = 0;
        long silent = 0, heard = 0;
        byte[] signs = [];
        string name = "";
        var process = ProcessLabel.None;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: node = ViewFields.ReadNode(ref reader, field); break;
                case 2: endPoint = ViewFields.ReadEndPoint(ref reader, field); break;
                case 3: outcome = reader.ReadInt32(field, (int)SnapshotOutcome.Unable); break;
                case 4: silent = NodeSnapshot.ReadNumber(ref reader, field); break;
                case 5: heard = NodeSnapshot.ReadNumber(ref reader, field); break;
                case 6: signs = SnapshotMessage.ReadSigns(ref reader, field).ToArray(); break;
                case 7: name = ProcessFields.ReadName(ref reader, field); break;
                case 8: process = ProcessFields.Read(ref reader, field); break;
                default: reader.Skip(field); break;
            }
        }

        return new MemberSnapshotMessage
        {
            Node = node,
            EndPoint = endPoint ?? throw new ControlFormatException("The node has no address."),
            Outcome = (SnapshotOutcome)outcome,
            SilentMillis = silent,
            HeardMillis = heard,
            Signs = signs,
            Name = name,
            Process = process,
        };
    }
}
