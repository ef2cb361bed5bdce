using System.Collections.Immutable;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Views;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol.Replies;

// An open topic, in an answer to an observer. If the topic was asked for by name, there is one message for each version of its contract.
internal sealed record ListedTopicMessage : IControlMessage, IReadableMessage<ListedTopicMessage>
{
    // More nodes of one version are counted, and not named.
    public const int MostHolders = 64;

    public int Kind => ControlMessageKind.ListedTopic;

    public required ulong TopicId { get; init; }
    public required string Name { get; init; }
    // Nodes.
    public int Publishers { get; init; }
    public int Subscribers { get; init; }
    // Of its contract.
    public int Versions { get; init; }
    // Nodes that have the topic open with this contract. 0: they have closed it, and only endpoints without a type are left.
    public int Nodes { get; init; }
    // Without its fields in a list of all topics.
    public required ContractDescription Contract { get; init; }
    // Of a topic that was asked for by name: nodes that have it open with this contract. An earlier service names none.
    public ImmutableArray<NodeKey> Holders { get; init; } = [];

    public void Write(ControlBuffer buffer)
    {
        buffer.Fixed64(1, TopicId);
        buffer.Text(2, Name);
        buffer.UInt64(3, (ulong)Publishers);
        buffer.UInt64(4, (ulong)Subscribers);
        buffer.UInt64(5, (ulong)Versions);
        buffer.UInt64(6, (ulong)Nodes);
        ContractFields.Write(buffer, 7, Contract);
        foreach (var node in Holders)
        {
            ViewFields.WriteNode(buffer, 8, node);
        }
    }

    public static ListedTopicMessage Read(ReadOnlySpan<byte> body)
    {
        var reader = new ProtobufReader(body);
        ulong topicId = 0;
        string name = "";
        int publishers = 0, subscribers = 0, versions = 0, nodes = 0;
        ContractDescription? contract = null;
        var holders = ImmutableArray.CreateBuilder<NodeKey>(0);
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: topicId = reader.ReadFixed64(field); break;
                case 2: name = reader.ReadText(field, SetTopicMessage.MaxNameBytes); break;
                case 3: publishers = reader.ReadInt32(field, int.MaxValue); break;
                case 4: subscribers = reader.ReadInt32(field, int.MaxValue); break;
                case 5: versions = reader.ReadInt32(field, int.MaxValue); break;
                case 6: nodes = reader.ReadInt32(field, int.MaxValue); break;
                case 7: contract = ContractFields.Read(ref reader, field); break;
                case 8 when holders.Count < MostHolders: holders.Add(ViewFields.ReadNode(ref reader, field)); break;
                default: reader.Skip(field); break;
            }
        }

        contract ??= new ContractDescription { TypeName = "", Kind = "", Guarantee = "" };
        return ContractLimits.Problem(name, contract) is { } problem
            ? throw new ControlFormatException(problem)
            : new ListedTopicMessage
            {
                TopicId = topicId,
                Name = name,
                Publishers = publishers,
                Subscribers = subscribers,
                Versions = versions,
                Nodes = nodes,
                Contract = contract,
                Holders = holders.DrainToImmutable(),
            };
    }
}
