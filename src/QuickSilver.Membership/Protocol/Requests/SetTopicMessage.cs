using System.Collections.Immutable;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Contracts;

namespace QuickSilver.Membership.Protocol.Requests;

// Opens a topic with this access, or replaces the access had before. RequestId grows over a node's life. Held: the node
// has a view of the topic, so a registration anew changes nothing where the service still has it open.
internal sealed record SetTopicMessage : IControlMessage
{
    public const int MaxNameBytes = 1024;

    public static int Kind => ControlMessageKind.SetTopic;

    public required ulong RequestId { get; init; }
    public required TopicRequest Topic { get; init; }
    public bool Held { get; init; }
    // In a registration, the request before this one that has the same contract; 0: it is here. A node may have many topics of one type,
    // and all of them must fit into a registration.
    public ulong ContractOf { get; init; }
    // How long it was where it was read.
    public int Bytes { get; init; }

    public void Write(ProtoWriter writer)
    {
        writer.UInt64(1, RequestId);
        writer.Text(2, Topic.Name);
        writer.Fixed64(3, Topic.TopicId);
        writer.UInt64(4, (ulong)Topic.Role);
        if (ContractOf == 0)
        {
            WriteContract(writer, 5, Topic.Contract);
        }

        writer.Bool(6, Held);
        writer.UInt64(7, ContractOf);
    }

    /// <param name="body">The message.</param>
    /// <param name="named">In a registration, the contracts that came with earlier requests.</param>
    public static SetTopicMessage? Read(ReadOnlySpan<byte> body, IReadOnlyDictionary<ulong, ContractDescription>? named = null)
    {
        var reader = new ProtoReader(body);
        ulong requestId = 0, topicId = 0;
        string name = "";
        int role = 0;
        ulong contractOf = 0;
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
                case 7:
                    contractOf = reader.UInt64();
                    contract = named?.GetValueOrDefault(contractOf);
                    break;
                default: reader.Skip(); break;
            }
        }

        if (reader.Failed || contract is null || role == 0)
        {
            return null;
        }

        var topic = new TopicRequest { Name = name, TopicId = topicId, Role = (TopicRole)role, Contract = contract };
        return new SetTopicMessage { RequestId = requestId, Topic = topic, Held = held, ContractOf = contractOf, Bytes = body.Length };
    }

    private static void WriteContract(ProtoWriter writer, int field, ContractDescription contract)
    {
        int start = writer.Begin(field);
        writer.Text(1, contract.TypeName);
        writer.Text(2, contract.Kind);
        writer.Text(3, contract.Guarantee);
        writer.Text(4, contract.Security);
        WriteFields(writer, 5, contract.Fields);
        foreach (var message in contract.Nested)
        {
            int at = writer.Begin(6);
            writer.Text(1, message.Name);
            WriteFields(writer, 2, message.Fields);
            writer.End(at);
        }

        writer.End(start);
    }

    private static void WriteFields(ProtoWriter writer, int field, ImmutableArray<ContractField> fields)
    {
        foreach (var member in fields)
        {
            int at = writer.Begin(field);
            writer.UInt64(1, (ulong)member.Number);
            writer.Text(2, member.Name);
            writer.Text(3, member.Type);
            if (member.Message is { } message)
            {
                // Left out where there is none, so that 0, the payload, must be written as something else.
                writer.UInt64(4, (ulong)message + 1);
            }

            writer.End(at);
        }
    }

    // What the frame has room for is read; ContractLimits judges it, so that a refusal can say what is wrong. Of what comes in numbers,
    // one more than is allowed is kept.
    private static ContractDescription ReadContract(ref ProtoReader outer)
    {
        var reader = outer.Message();
        string typeName = "", kind = "", guarantee = "", security = "";
        var fields = ImmutableArray.CreateBuilder<ContractField>();
        var nested = ImmutableArray.CreateBuilder<ContractMessage>();
        int fieldsLeft = ContractLimits.MaxFields + 1;
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1: typeName = reader.Text(int.MaxValue); break;
                case 2: kind = reader.Text(int.MaxValue); break;
                case 3: guarantee = reader.Text(int.MaxValue); break;
                case 4: security = reader.Text(int.MaxValue); break;
                case 5 when fieldsLeft > 0: fields.Add(ReadField(ref reader, ref fieldsLeft)); break;
                case 6 when nested.Count <= ContractLimits.MaxNested: nested.Add(ReadNested(ref reader, ref fieldsLeft)); break;
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
            Nested = nested.DrainToImmutable(),
        };
    }

    private static ContractMessage ReadNested(ref ProtoReader outer, ref int fieldsLeft)
    {
        var reader = outer.Message();
        string name = "";
        var fields = ImmutableArray.CreateBuilder<ContractField>();
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1: name = reader.Text(int.MaxValue); break;
                case 2 when fieldsLeft > 0: fields.Add(ReadField(ref reader, ref fieldsLeft)); break;
                default: reader.Skip(); break;
            }
        }

        outer.FailIf(reader.Failed);
        return new ContractMessage(name, fields.DrainToImmutable());
    }

    private static ContractField ReadField(ref ProtoReader outer, ref int fieldsLeft)
    {
        fieldsLeft--;
        var reader = outer.Message();
        int number = 0;
        int? message = null;
        string name = "", type = "";
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1: number = reader.Int32(int.MaxValue); break;
                case 2: name = reader.Text(int.MaxValue); break;
                case 3: type = reader.Text(int.MaxValue); break;
                case 4: message = reader.Int32(int.MaxValue) - 1; break;
                default: reader.Skip(); break;
            }
        }

        outer.FailIf(reader.Failed);
        return new ContractField(number, name, type) { Message = message };
    }
}
