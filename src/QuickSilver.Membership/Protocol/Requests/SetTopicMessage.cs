using System.Collections.Immutable;
using QuickSilver.Membership.Client;

namespace QuickSilver.Membership.Protocol.Requests;

// Opens a topic with this access, or replaces the access had before. RequestId grows over a node's life. Held: the node
// has a view of the topic, so a registration anew changes nothing where the service still has it open.
internal sealed record SetTopicMessage : IControlMessage
{
    public const int MaxNameBytes = 1024;
    private const int MaxWordBytes = 1024;
    private const int MaxFields = 4096;

    public static int Kind => ControlMessageKind.SetTopic;

    public required ulong RequestId { get; init; }
    public required TopicRequest Topic { get; init; }
    public bool Held { get; init; }

    public void Write(ProtoWriter writer)
    {
        writer.UInt64(1, RequestId);
        writer.Text(2, Topic.Name);
        writer.Fixed64(3, Topic.TopicId);
        writer.UInt64(4, (ulong)Topic.Role);
        WriteContract(writer, 5, Topic.Contract);
        writer.Bool(6, Held);
    }

    public static SetTopicMessage? Read(ReadOnlySpan<byte> body)
    {
        var reader = new ProtoReader(body);
        ulong requestId = 0, topicId = 0;
        string name = "";
        int role = 0;
        ContractDescription? contract = null;
        bool held = false;
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1: requestId = reader.UInt64(); break;
                case 2: name = reader.Text(MaxNameBytes); break;
                case 3: topicId = reader.Fixed64(); break;
                case 4: role = reader.Int32((int)(TopicRole.Publish | TopicRole.Subscribe)); break;
                case 5: contract = ReadContract(ref reader); break;
                case 6: held = reader.Bool(); break;
                default: reader.Skip(); break;
            }
        }

        if (reader.Failed || contract is null || role == 0)
        {
            return null;
        }

        var topic = new TopicRequest { Name = name, TopicId = topicId, Role = (TopicRole)role, Contract = contract };
        return new SetTopicMessage { RequestId = requestId, Topic = topic, Held = held };
    }

    private static void WriteContract(ProtoWriter writer, int field, ContractDescription contract)
    {
        int start = writer.Begin(field);
        writer.Text(1, contract.TypeName);
        writer.Text(2, contract.Kind);
        writer.Text(3, contract.Guarantee);
        writer.Text(4, contract.Security);
        foreach (var member in contract.Fields)
        {
            int at = writer.Begin(5);
            writer.UInt64(1, (ulong)member.Number);
            writer.Text(2, member.Name);
            writer.Text(3, member.Type);
            writer.End(at);
        }

        writer.End(start);
    }

    private static ContractDescription ReadContract(ref ProtoReader outer)
    {
        var reader = outer.Message();
        string typeName = "", kind = "", guarantee = "", security = "";
        var fields = ImmutableArray.CreateBuilder<ContractField>();
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1: typeName = reader.Text(MaxWordBytes); break;
                case 2: kind = reader.Text(MaxWordBytes); break;
                case 3: guarantee = reader.Text(MaxWordBytes); break;
                case 4: security = reader.Text(MaxWordBytes); break;
                case 5 when fields.Count < MaxFields: fields.Add(ReadField(ref reader)); break;
                case 5: reader.Fail(); break;
                default: reader.Skip(); break;
            }
        }

        outer.FailIf(reader.Failed);
        return new ContractDescription
        {
            TypeName = typeName,
            Kind = kind,
            Guarantee = guarantee,
            Security = security,
            Fields = fields.DrainToImmutable(),
        };
    }

    private static ContractField ReadField(ref ProtoReader outer)
    {
        var reader = outer.Message();
        int number = 0;
        string name = "", type = "";
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1: number = reader.Int32(int.MaxValue); break;
                case 2: name = reader.Text(MaxWordBytes); break;
                case 3: type = reader.Text(MaxWordBytes); break;
                default: reader.Skip(); break;
            }
        }

        outer.FailIf(reader.Failed);
        return new ContractField(number, name, type);
    }
}
