using System.Collections.Immutable;
using QuickSilver.Membership.Contracts;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol.Requests;

// Opens a topic with this access, or replaces the access had before. RequestId grows over a node's life. Held: the node
// has a view of the topic, so a registration anew changes nothing where the service still has it open.
internal sealed record SetTopicMessage : IControlMessage, IReadableMessage<SetTopicMessage>
{
    public const int MaxNameBytes = 1024;

    public int Kind => ControlMessageKind.SetTopic;

    public required ulong RequestId { get; init; }
    public required TopicRequest Topic { get; init; }
    public bool Held { get; init; }
    // In a registration, the request before this one that has the same contract; 0: it is here. A node may have many topics of one type,
    // and all of them must fit into a registration.
    public ulong ContractOf { get; init; }
    // Of a pinned topic that the node is a member of: the configuration since which it is; 0: it is not.
    public long MemberSince { get; init; }
    // How long it was where it was read.
    public int Bytes { get; init; }

    public void Write(ControlBuffer buffer)
    {
        buffer.UInt64(1, RequestId);
        buffer.Text(2, Topic.Name);
        buffer.Fixed64(3, Topic.TopicId);
        buffer.UInt64(4, (ulong)Topic.Role);
        if (ContractOf == 0)
        {
            WriteContract(buffer, 5, Topic.Contract);
        }

        buffer.Bool(6, Held);
        buffer.UInt64(7, ContractOf);
        buffer.Int64(8, MemberSince);
    }

    public static SetTopicMessage Read(ReadOnlySpan<byte> body) => Read(body, named: null);

    /// <param name="body">The message.</param>
    /// <param name="named">In a registration, the contracts that came with earlier requests.</param>
    /// <exception cref="QuickSilverException">The body is no such message.</exception>
    public static SetTopicMessage Read(ReadOnlySpan<byte> body, IReadOnlyDictionary<ulong, ContractDescription>? named)
    {
        var reader = new ProtobufReader(body);
        ulong requestId = 0, topicId = 0;
        string name = "";
        int role = 0;
        ulong contractOf = 0;
        ContractDescription? contract = null;
        bool held = false;
        long memberSince = 0;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: requestId = reader.ReadUInt64(field); break;
                case 2: name = reader.ReadText(field, MaxNameBytes); break;
                case 3: topicId = reader.ReadFixed64(field); break;
                case 4: role = reader.ReadInt32(field, (int)(TopicRole.Publish | TopicRole.Subscribe)); break;
                case 5: contract = ReadContract(ref reader, field); break;
                case 6: held = reader.ReadBool(field); break;
                case 7:
                    contractOf = reader.ReadUInt64(field);
                    contract = named?.GetValueOrDefault(contractOf);
                    break;
                case 8: memberSince = reader.ReadInt64(field); break;
                default: reader.Skip(field); break;
            }
        }

        if (contract is null)
        {
            throw new ControlFormatException(
                contractOf == 0 ? "The topic has no contract." : $"The contract of request {contractOf} is unknown.");
        }

        if (role == 0)
        {
            throw new ControlFormatException("The topic is opened for neither publishing nor subscribing.");
        }

        var topic = new TopicRequest { Name = name, TopicId = topicId, Role = (TopicRole)role, Contract = contract };
        return new SetTopicMessage
        {
            RequestId = requestId,
            Topic = topic,
            Held = held,
            ContractOf = contractOf,
            MemberSince = memberSince,
            Bytes = body.Length,
        };
    }

    private static void WriteContract(ControlBuffer buffer, int field, ContractDescription contract)
    {
        int start = buffer.Begin(field);
        buffer.Text(1, contract.TypeName);
        buffer.Text(2, contract.Kind);
        buffer.Text(3, contract.Guarantee);
        buffer.Text(4, contract.Security);
        WriteFields(buffer, 5, contract.Fields);
        foreach (var message in contract.Nested)
        {
            int at = buffer.Begin(6);
            buffer.Text(1, message.Name);
            WriteFields(buffer, 2, message.Fields);
            buffer.End(at);
        }

        buffer.Bool(7, contract.IsPinned);
        buffer.End(start);
    }

    private static void WriteFields(ControlBuffer buffer, int field, ImmutableArray<ContractField> fields)
    {
        foreach (var member in fields)
        {
            int at = buffer.Begin(field);
            buffer.UInt64(1, (ulong)member.Number);
            buffer.Text(2, member.Name);
            buffer.Text(3, member.Type);
            if (member.Message is { } message)
            {
                // Left out where there is none, so that 0, the payload, must be written as something else.
                buffer.UInt64(4, (ulong)message + 1);
            }

            buffer.End(at);
        }
    }

    // What the frame has room for is read; ContractLimits judges it, so that a refusal can say what is wrong. Of what comes in numbers,
    // one more than is allowed is kept.
    private static ContractDescription ReadContract(ref ProtobufReader outer, ControlField at)
    {
        var reader = outer.ReadMessage(at);
        string typeName = "", kind = "", guarantee = "", security = "";
        var fields = ImmutableArray.CreateBuilder<ContractField>();
        var nested = ImmutableArray.CreateBuilder<ContractMessage>();
        bool isPinned = false;
        int fieldsLeft = ContractLimits.MaxFields + 1;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: typeName = reader.ReadText(field, int.MaxValue); break;
                case 2: kind = reader.ReadText(field, int.MaxValue); break;
                case 3: guarantee = reader.ReadText(field, int.MaxValue); break;
                case 4: security = reader.ReadText(field, int.MaxValue); break;
                case 5 when fieldsLeft > 0: fields.Add(ReadField(ref reader, field, ref fieldsLeft)); break;
                case 6 when nested.Count <= ContractLimits.MaxNested: nested.Add(ReadNested(ref reader, field, ref fieldsLeft)); break;
                case 7: isPinned = reader.ReadBool(field); break;
                default: reader.Skip(field); break;
            }
        }

        return new ContractDescription
        {
            TypeName = typeName,
            Kind = kind,
            Guarantee = guarantee,
            Security = security,
            IsPinned = isPinned,
            Fields = fields.DrainToImmutable(),
            Nested = nested.DrainToImmutable(),
        };
    }

    private static ContractMessage ReadNested(ref ProtobufReader outer, ControlField at, ref int fieldsLeft)
    {
        var reader = outer.ReadMessage(at);
        string name = "";
        var fields = ImmutableArray.CreateBuilder<ContractField>();
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: name = reader.ReadText(field, int.MaxValue); break;
                case 2 when fieldsLeft > 0: fields.Add(ReadField(ref reader, field, ref fieldsLeft)); break;
                default: reader.Skip(field); break;
            }
        }

        return new ContractMessage(name, fields.DrainToImmutable());
    }

    private static ContractField ReadField(ref ProtobufReader outer, ControlField at, ref int fieldsLeft)
    {
        fieldsLeft--;
        var reader = outer.ReadMessage(at);
        int number = 0;
        int? message = null;
        string name = "", type = "";
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: number = reader.ReadInt32(field, int.MaxValue); break;
                case 2: name = reader.ReadText(field, int.MaxValue); break;
                case 3: type = reader.ReadText(field, int.MaxValue); break;
                case 4: message = reader.ReadInt32(field, int.MaxValue) - 1; break;
                default: reader.Skip(field); break;
            }
        }

        return new ContractField(number, name, type) { Message = message };
    }
}
