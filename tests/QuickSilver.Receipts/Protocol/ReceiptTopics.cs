using System.Buffers.Binary;
using System.Globalization;
using System.Text;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Protocols;

namespace QuickSilver.Receipts.Protocol;

// Topics whose publishers learn which node has taken which message: reliable pinned channels, letters with receipts, and packets by which a
// publisher asks members whose receipts it lacks.
internal sealed class ReceiptTopics : ITopicProtocol, ILetterReader, IPacketHandler
{
    // A receipt may be lost with its sender, or be less than Every messages away.
    private static readonly TimeSpan AskInterval = TimeSpan.FromMilliseconds(200);

    private const PacketKind Question = (PacketKind)47;

    // The messages have streams of their own, and wait for no packet of other topics.
    private const byte ReceiptStream = 1;

    private readonly IProtocolNode _node;
    private readonly ILetters _letters;
    private readonly Alarm _ask;
    // Null until a topic keeps its receipts.
    private ProtocolLogs? _logs;
    private readonly SortedDictionary<ulong, ReceiptSender> _senders = [];
    private readonly SortedDictionary<ulong, ReceiptSink> _sinks = [];
    private long _given;
    private long _refused;

    public ReceiptTopics(IProtocolNode node)
    {
        _node = node;
        _ask = new Alarm(Ask);
        _letters = node.OpenLetters(Factory.Guarantee, this);
        node.Packets.Register(Question, Factory.Guarantee, this, keepsEarly: true);
    }

    public static TopicProtocolFactory Factory { get; } =
        new("Receipts", static node => new ReceiptTopics(node)) { IsPinned = true };

    public IReadOnlyList<ProtocolCounter> Counters =>
    [
        new()
        {
            Name = "quicksilver.receipts.given",
            Unit = "{receipt}",
            Description = "Receipts sent to publishers.",
            Read = () => Volatile.Read(ref _given),
        },
        new()
        {
            Name = "quicksilver.receipts.refused",
            Unit = "{receipt}",
            Description = "Receipts that cannot be true.",
            Read = () => Volatile.Read(ref _refused),
        },
    ];

    public ITopicSender OpenPublisher(in ProtocolTopic topic)
    {
        ulong id = topic.Id;
        var inner = _node.Multicast.OpenPublisher(ChannelOf(topic));
        var sender = new ReceiptSender(inner, topic, _node, OnSent, () => _senders.Remove(id));
        sender.SetMembers();
        if (topic.Settings is ReceiptSettings { IsKept: true })
        {
            var logs = _logs ??= _node.OpenLogs(Factory.Guarantee);
            sender.Log = new ReceiptLog(_node, logs, topic, sender.Pass);
        }

        return _senders[id] = sender;
    }

    public ITopicReceiver OpenSubscription(in ProtocolTopic topic, IDeliverySink sink)
    {
        ulong id = topic.Id;
        var own = new ReceiptSink(sink, new TakenMessages(EveryOf(topic.Parameters)), sender => Give(id, sender));
        _sinks[id] = own;
        own.Receiver = _node.Multicast.OpenSubscription(ChannelOf(topic), own);
        own.OnClose = () => _sinks.Remove(id);
        return own;
    }

    public void OnConfiguration()
    {
        foreach (var sender in _senders.Values)
        {
            sender.SetMembers();
        }

        var roster = _node.Roster;

        foreach (var sink in _sinks.Values)
        {
            foreach (var sender in sink.Taken.Senders())
            {
                if (!roster.Contains(sender))
                {
                    sink.Taken.Forget(sender);
                }
            }
        }
    }

    public void AddWaits(List<IProtocolWait> waits)
    {
        foreach (var sender in _senders.Values)
        {
            if (sender.Confirmed.Lacking() is [var first, ..])
            {
                sender.WaitsFor = $"node {_node.Named(first)}";
                waits.Add(sender);
            }

            if (sender.Log is { IsWaiting: true } log)
            {
                waits.Add(log);
            }
        }
    }

    public void OnLetter(NodeKey sender, ReadOnlySpan<byte> letter)
    {
        if (!ReceiptLetter.TryRead(letter, out var receipt))
        {
            _refused++;
        }
        else if (_senders.TryGetValue(receipt.Topic, out var topic))
        {
            Confirm(topic, sender, receipt.Through);
        }
    }

    public void OnRoom()
    {
        foreach (var (topic, sink) in _sinks)
        {
            foreach (var sender in sink.Taken.Due.Order().ToArray())
            {
                Give(topic, sender);
            }
        }
    }

    public DropReason OnPacket(in PacketHeader header, NodeKey sender)
    {
        if (header.Body.Length < ReceiptLetter.QuestionBytes)
        {
            return DropReason.Malformed;
        }

        ulong topic = BinaryPrimitives.ReadUInt64LittleEndian(header.Body);
        if (_sinks.TryGetValue(topic, out var sink))
        {
            sink.Taken.OnAsked(sender);
            Give(topic, sender);
        }

        return DropReason.None;
    }

    public void Close()
    {
        _node.Environment.Cancel(_ask);
        _letters.Close();
    }

    private static ChannelSpec ChannelOf(in ProtocolTopic topic) =>
        new(topic.Id)
        {
            Reliability = Reliability.Reliable,
            IsPinned = true,
            StreamNumber = ReceiptStream,
            Parameters = topic.Contract.Parameters,
        };

    // The contract was described here or matched with one that was.
    private static int EveryOf(ReadOnlySpan<byte> parameters)
    {
        string every = Encoding.ASCII.GetString(parameters)["every=".Length..];
        return int.Parse(every, NumberStyles.None, CultureInfo.InvariantCulture);
    }

    private void OnSent()
    {
        if (!_ask.IsPending)
        {
            _node.Environment.Schedule(_ask, AskInterval);
        }

        _node.OnWait();
    }

    private void Give(ulong topic, NodeKey sender)
    {
        var taken = _sinks[topic].Taken;
        if (!taken.Due.Contains(sender))
        {
            return;
        }

        long through = taken.ThroughOf(sender);
        if (sender == _node.Self)
        {
            taken.OnSent(sender);
            if (_senders.TryGetValue(topic, out var own))
            {
                Confirm(own, sender, through);
            }

            return;
        }

        Span<byte> letter = stackalloc byte[ReceiptLetter.Bytes];
        new ReceiptLetter(topic, through).Write(letter);
        if (_letters.TrySend(sender, letter))
        {
            taken.OnSent(sender);
            _given++;
        }
    }

    private void Confirm(ReceiptSender topic, NodeKey member, long through)
    {
        if (topic.Confirmed.TryConfirm(member, through))
        {
            topic.OnReceipt(member, through);
        }
        else if (through > topic.Confirmed.Sent)
        {
            _refused++;
        }
    }

    private void Ask()
    {
        bool isAnyLeft = false;
        Span<byte> body = stackalloc byte[ReceiptLetter.QuestionBytes];
        foreach (var (topic, sender) in _senders)
        {
            BinaryPrimitives.WriteUInt64LittleEndian(body, topic);
            var lacking = sender.Confirmed.Lacking();
            isAnyLeft |= lacking.Count > 0;
            if (sender.View is { } view)
            {
                foreach (var member in lacking)
                {
                    _node.Packets.TrySend(Question, view, member, sender.Confirmed.Sent, body);
                }
            }
        }

        if (isAnyLeft)
        {
            _node.Environment.Schedule(_ask, AskInterval);
        }
    }
}
