using System.Collections.Immutable;
using System.Net;
using QuickSilver.Core.Sealing;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol.Replies;

// Asks a node which of these its datagrams reach and come back from: it sends them echoes for as long as it may wait, and answers
// with a Findings message.
internal sealed record InquiryMessage : IControlMessage, IReadableMessage<InquiryMessage>
{
    // Findings have a bit for each.
    public const int MaxTargets = 16;
    private const int MaxWaitMilliseconds = 60_000;

    public int Kind => ControlMessageKind.Inquiry;

    public required ulong Id { get; init; }
    public required int WaitMilliseconds { get; init; }
    // Where the service itself answers echoes, at the address that the node reaches it by; 0: nowhere.
    public int ServicePort { get; init; }
    public ImmutableArray<IPEndPoint> Targets { get; init; } = [];
    // Under which echoes are sealed: the node may not be a member yet. Null: they are not sealed.
    public ClusterKey? ClusterKey { get; init; }

    public void Write(ControlBuffer buffer)
    {
        buffer.UInt64(1, Id);
        buffer.UInt64(2, (ulong)WaitMilliseconds);
        buffer.UInt64(3, (ulong)ServicePort);
        foreach (var target in Targets)
        {
            ViewFields.WriteEndPoint(buffer, 4, target);
        }

        ViewFields.WriteClusterKey(buffer, 5, ClusterKey);
    }

    public static InquiryMessage Read(ReadOnlySpan<byte> body)
    {
        var reader = new ProtobufReader(body);
        ulong id = 0;
        int wait = 0;
        int port = 0;
        ClusterKey? clusterKey = null;
        var targets = ImmutableArray.CreateBuilder<IPEndPoint>();
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: id = reader.ReadUInt64(field); break;
                case 2: wait = reader.ReadInt32(field, MaxWaitMilliseconds); break;
                case 3: port = reader.ReadInt32(field, IPEndPoint.MaxPort); break;
                case 4 when targets.Count < MaxTargets: targets.Add(ViewFields.ReadEndPoint(ref reader, field)); break;
                case 4: throw new ControlFormatException($"The inquiry has more than {MaxTargets} targets.");
                case 5: clusterKey = ViewFields.ReadClusterKey(ref reader, field); break;
                default: reader.Skip(field); break;
            }
        }

        return wait == 0
            ? throw new ControlFormatException("The inquiry leaves no time to answer.")
            : new InquiryMessage
            {
                Id = id,
                WaitMilliseconds = wait,
                ServicePort = port,
                Targets = targets.DrainToImmutable(),
                ClusterKey = clusterKey,
            };
    }
}
