using System.Collections.Immutable;
using System.Net;

namespace QuickSilver.Membership.Protocol.Replies;

// Asks a node which of these its datagrams reach and come back from: it sends them echoes for as long as it may wait, and answers
// with a Findings message.
internal sealed record InquiryMessage : IControlMessage
{
    // Findings have a bit for each.
    public const int MaxTargets = 16;
    private const int MaxWaitMilliseconds = 60_000;

    public static int Kind => ControlMessageKind.Inquiry;

    public required ulong Id { get; init; }
    public required int WaitMilliseconds { get; init; }
    // Where the service itself answers echoes, at the address that the node reaches it by; 0: nowhere.
    public int ServicePort { get; init; }
    public ImmutableArray<IPEndPoint> Targets { get; init; } = [];

    public void Write(ProtoWriter writer)
    {
        writer.UInt64(1, Id);
        writer.UInt64(2, (ulong)WaitMilliseconds);
        writer.UInt64(3, (ulong)ServicePort);
        foreach (var target in Targets)
        {
            ViewFields.WriteEndPoint(writer, 4, target);
        }
    }

    public static InquiryMessage? Read(ReadOnlySpan<byte> body)
    {
        var reader = new ProtoReader(body);
        ulong id = 0;
        int wait = 0;
        int port = 0;
        var targets = ImmutableArray.CreateBuilder<IPEndPoint>();
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1: id = reader.UInt64(); break;
                case 2: wait = reader.Int32(MaxWaitMilliseconds); break;
                case 3: port = reader.Int32(IPEndPoint.MaxPort); break;
                case 4 when targets.Count < MaxTargets: targets.Add(ViewFields.ReadEndPoint(ref reader)); break;
                case 4: reader.Fail(); break;
                default: reader.Skip(); break;
            }
        }

        return reader.Failed || wait == 0
            ? null
            : new InquiryMessage { Id = id, WaitMilliseconds = wait, ServicePort = port, Targets = targets.DrainToImmutable() };
    }
}
