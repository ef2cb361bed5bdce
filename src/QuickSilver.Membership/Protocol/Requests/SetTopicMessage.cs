using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Views;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol.Requests;

// Opens a topic with this access, or replaces the earlier access. RequestId grows over a node's life. Held: the node has a view of the
// topic, so another registration changes nothing where the service still has it open.
internal sealed record SetTopicMessage : IControlMessage, IReadableMessage<SetTopicMessage>
{
    public const int MaxNameBytes = 1024;

    public int Kind => ControlMessageKind.SetTopic;

    public required ulong RequestId { get; init; }
    public required TopicRequest Topic { get; init; }
    public bool Held { get; init; }
    // That view contains all regions of the topic, because the node may publish.
    public bool Routed { get; init; }
    // In a registration, the request before this one that has the same contract; 0: it is here. A node may have many topics of one type,
    // and all of them must fit into a registration.
    public ulong ContractOf { get; init; }
    // Of a pinned topic that the node is a member of: the configuration since which it is; 0: it is not.
    public long MemberSince { get; init; }
    // In a registration, of a topic that the node gets by a region of which it is a member: the region; 0: there is none.
    public ulong Region { get; init; }
    // The view of that region that the node holds. Null: an earlier request of the registration contains it, or there is none.
    public HeldView? View { get; init; }
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
            ContractFields.Write(buffer, 5, Topic.Contract);
        }

        buffer.Bool(6, Held);
        buffer.UInt64(7, ContractOf);
        buffer.Int64(8, MemberSince);
        buffer.Fixed64(9, Region);
        if (View is not null)
        {
            ViewFields.WriteHeld(buffer, 10, View);
        }

        buffer.Bool(11, Routed);
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
        ulong region = 0;
        HeldView? view = null;
        bool routed = false;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: requestId = reader.ReadUInt64(field); break;
                case 2: name = reader.ReadText(field, MaxNameBytes); break;
                case 3: topicId = reader.ReadFixed64(field); break;
                case 4: role = reader.ReadInt32(field, (int)(TopicRole.Publish | TopicRole.Subscribe)); break;
                case 5: contract = ContractFields.Read(ref reader, field); break;
                case 6: held = reader.ReadBool(field); break;
                case 7:
                    contractOf = reader.ReadUInt64(field);
                    contract = named?.GetValueOrDefault(contractOf);
                    break;
                case 8: memberSince = reader.ReadInt64(field); break;
                case 9: region = reader.ReadFixed64(field); break;
                case 10: view = ViewFields.ReadHeld(ref reader, field); break;
                case 11: routed = reader.ReadBool(field); break;
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
            Routed = routed,
            ContractOf = contractOf,
            MemberSince = memberSince,
            Region = region,
            View = view,
            Bytes = body.Length,
        };
    }
}
