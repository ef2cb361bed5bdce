using System.Buffers.Binary;
using System.Text;
using QuickSilver.Endpoints;
using QuickSilver.Inboxes;
using QuickSilver.Membership.Contracts;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Serialization;
using QuickSilver.States;
using QuickSilver.States.Joining;

namespace QuickSilver.Simulation.Tests.Infrastructure;

// A member that has a state open by hand: a test decides what it sends, and how it answers what comes.
internal sealed class StateByHand
{
    private static readonly StateEntryBytes<string, string> Bytes = new(new Words(), new Words());

    private readonly SimulatedCluster _cluster;
    private readonly SimulatedNode _node;
    private readonly TopicEndpoint<StateMessage<string, string>> _topic;
    private readonly Dictionary<NodeId, TopicEndpoint<ReadOnlyMemory<byte>>> _letters = [];
    private NodeId _last;

    public StateByHand(SimulatedCluster cluster, int number, string name, TopicAccess access = TopicAccess.PublishAndSubscribe)
    {
        _cluster = cluster;
        _node = cluster.Nodes[number];
        var text = new Words();
        var schema = JoinedSchema.Of(ContractDescription.StateKind, ("key", text.Schema), ("value", text.Schema));
        var codec = new StateCodec<string, string>(Bytes, schema);
        var options = new TopicOptions { ReceiveOwnMessages = false };
        _topic = cluster.RunUntilCompleted(_node.Node.OpenEndpointAsync(name, access, options, codec));
        OnMessage = (sender, message) =>
        {
            if (message.Kind == StateMessageKind.Hello)
            {
                Mark(sender, message.Number, isComplete: false);
            }
        };
        _topic.SubscribeInline((in Message<StateMessage<string, string>> message) =>
        {
            Received.Add((message.Sender, message.Value));
            OnMessage(message.Sender, message.Value);
        });
        cluster.Eventually("it is known", () => _topic.Subscribers > 0);
        Send(new StateMessage<string, string> { Kind = StateMessageKind.Hello, Number = 1 });
    }

    public NodeId Id => _node.Node.Id;

    public List<(NodeId Sender, StateMessage<string, string> Message)> Received { get; } = [];

    /// <summary>What it does with a message. It answers each hello, at first.</summary>
    public Action<NodeId, StateMessage<string, string>> OnMessage { get; set; }

    public StateEntry<string, string> Entry(string key, string value, long counter) => new(key, value, false, new StateStamp(counter, Id));

    /// <summary>Also from a handler.</summary>
    public void Send(StateMessage<string, string> message) => _ = _topic.PublishAsync(in message);

    public void Set(string key, string value, long counter) => _cluster.RunUntilCompleted(
        () => _topic.PublishAsync(new StateMessage<string, string> { Entry = Entry(key, value, counter) }).AsTask());

    public void Mark(NodeId joiner, long number, bool isComplete, int age = 0) => Send(new StateMessage<string, string>
    {
        Kind = StateMessageKind.Mark,
        Node = joiner,
        Number = number,
        IsComplete = isComplete,
        AgeSeconds = age,
    });

    /// <summary>Opens the way to the inbox of another node.</summary>
    public void OpenLettersTo(NodeId node)
    {
        var options = new TopicOptions { Protocol = new ProtocolChoice(PlainTopics.Inbox) };
        _last = node;
        _letters[node] = _cluster.RunUntilCompleted(
            _node.Node.OpenEndpointAsync<ReadOnlyMemory<byte>>(Inbox.NameOf(node), TopicAccess.Publish, options));
    }

    /// <summary>To the last node whose inbox was opened.</summary>
    public void SendPiece(int box, long number, params ReadOnlySpan<StateEntry<string, string>> entries) =>
        SendLetter(box, number, StateLetterKind.Piece, BytesOf(entries));

    public static byte[] BytesOf(params ReadOnlySpan<StateEntry<string, string>> entries)
    {
        byte[] body = new byte[entries.ToArray().Sum(Bytes.GetSize)];
        int at = 0;
        foreach (var entry in entries)
        {
            at += Bytes.Write(entry, body.AsSpan(at));
        }

        return body;
    }

    public void SendEnd(int box, long number, int entries)
    {
        byte[] body = new byte[sizeof(int)];
        BinaryPrimitives.WriteInt32LittleEndian(body, entries);
        SendLetter(box, number, StateLetterKind.End, body);
    }

    public void SendLetter(int box, long number, StateLetterKind kind, ReadOnlySpan<byte> body) =>
        SendLetterTo(_last, box, number, kind, body);

    public void SendLetterTo(NodeId to, int box, long number, StateLetterKind kind, ReadOnlySpan<byte> body)
    {
        byte[] letter = new byte[Inbox.HeaderBytes + StateLetters<string, string>.HeaderBytes + body.Length];
        BinaryPrimitives.WriteInt32LittleEndian(letter, box);
        BinaryPrimitives.WriteInt64LittleEndian(letter.AsSpan(Inbox.HeaderBytes), number);
        letter[Inbox.HeaderBytes + sizeof(long)] = (byte)kind;
        body.CopyTo(letter.AsSpan(Inbox.HeaderBytes + StateLetters<string, string>.HeaderBytes));
        _ = _letters[to].PublishAsync((ReadOnlyMemory<byte>)letter);
    }

    private sealed class Words : IPayloadCodec<string>
    {
        public PayloadSchema Schema { get; } = new("string", PayloadSchema.StringKind, []);

        public int GetSize(in string value) => Encoding.UTF8.GetByteCount(value);

        public int Write(in string value, Span<byte> destination) => Encoding.UTF8.GetBytes(value, destination);

        public string Read(ReadOnlySpan<byte> source) => Encoding.UTF8.GetString(source);
    }
}
