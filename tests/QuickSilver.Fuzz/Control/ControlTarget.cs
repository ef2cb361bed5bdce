using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Snapshots;

namespace QuickSilver.Fuzz.Control;

// The messages between node and service. The first byte of the input is the kind of the message and the others are its body; kind 0 means
// that the others are a stream of frames. What was read is written and read again.
internal sealed class ControlTarget : FuzzTarget
{
    private static readonly Dictionary<int, ControlRead> Messages = new()
    {
        [ControlMessageKind.Join] = Read<JoinMessage>,
        [ControlMessageKind.JoinComplete] = static _ => { },
        [ControlMessageKind.SetTopic] = ReadSetTopic,
        [ControlMessageKind.CloseTopic] = Read<CloseTopicMessage>,
        [ControlMessageKind.Confirm] = static body => ReadOpenViews(body, ControlMessageKind.Confirm),
        [ControlMessageKind.Heartbeat] = static body => ReadKnown(body, ControlMessageKind.Heartbeat),
        [ControlMessageKind.Suspect] = Read<SuspectMessage>,
        [ControlMessageKind.Leave] = static _ => { },
        [ControlMessageKind.Resync] = static body => ReadKnown(body, ControlMessageKind.Resync),
        [ControlMessageKind.Findings] = Read<FindingsMessage>,
        [ControlMessageKind.Watch] = Read<WatchMessage>,
        [ControlMessageKind.Snapshot] = ReadSigns,
        [ControlMessageKind.Paused] = Read<PausedMessage>,
        [ControlMessageKind.ListTopics] = Read<ListTopicsMessage>,
        [ControlMessageKind.FollowTopics] = Read<FollowTopicsMessage>,
        [ControlMessageKind.Welcome] = Read<WelcomeMessage>,
        [ControlMessageKind.Refused] = static body => ReadReason(body, ControlMessageKind.Refused),
        [ControlMessageKind.Configuration] = static body => ConfigurationTarget.ReadPart(body),
        [ControlMessageKind.TopicOutcome] = Read<TopicOutcomeMessage>,
        [ControlMessageKind.Settled] = static body => ReadOpenViews(body, ControlMessageKind.Settled),
        [ControlMessageKind.Expelled] = static body => ReadReason(body, ControlMessageKind.Expelled),
        [ControlMessageKind.HeartbeatReply] = static body => ReadKnown(body, ControlMessageKind.HeartbeatReply),
        [ControlMessageKind.Goodbye] = Read<GoodbyeMessage>,
        [ControlMessageKind.Left] = static _ => { },
        [ControlMessageKind.Inquiry] = Read<InquiryMessage>,
        [ControlMessageKind.SnapshotQuestion] = Read<SnapshotQuestionMessage>,
        [ControlMessageKind.ClusterSnapshot] = Read<ClusterSnapshotMessage>,
        [ControlMessageKind.MemberSnapshot] = ReadMemberSigns,
        [ControlMessageKind.TopicList] = Read<TopicListMessage>,
        [ControlMessageKind.ListedTopic] = Read<ListedTopicMessage>,
        [ControlMessageKind.FollowedTopics] = Read<FollowedTopicsMessage>,
        [ControlMessageKind.Waiting] = static body => ReadReason(body, ControlMessageKind.Waiting),
    };

    private delegate void ControlRead(ReadOnlySpan<byte> body);

    /// <summary>The kinds that are read.</summary>
    public static IEnumerable<int> Kinds => Messages.Keys;

    public override string Name => "control";

    public override IReadOnlyList<Type> Decoders { get; } =
    [
        typeof(ControlFrame), typeof(ControlFields), typeof(ViewFields), typeof(ContractFields), typeof(EndedFields), typeof(JoinMessage),
        typeof(ProcessFields),
        typeof(SetTopicMessage), typeof(CloseTopicMessage), typeof(OpenViewsMessage), typeof(KnownMessage), typeof(SuspectMessage),
        typeof(FindingsMessage), typeof(WatchMessage), typeof(SnapshotMessage), typeof(PausedMessage), typeof(ListTopicsMessage),
        typeof(FollowTopicsMessage), typeof(WelcomeMessage), typeof(ReasonMessage), typeof(TopicOutcomeMessage), typeof(GoodbyeMessage),
        typeof(InquiryMessage), typeof(SnapshotQuestionMessage), typeof(ClusterSnapshotMessage), typeof(MemberSnapshotMessage),
        typeof(TopicListMessage), typeof(ListedTopicMessage), typeof(FollowedTopicsMessage), typeof(NodeSnapshot), typeof(RegionSnapshot),
        typeof(TopicSnapshot), typeof(ReasonSnapshot), typeof(HeldSnapshot), typeof(ProtocolSnapshot),
    ];

    // A field of two bytes becomes an object, twice.
    public override long AllocationLimit(ReadOnlySpan<byte> input) => FreeBytes + (256L * input.Length)
        + (IsStream(input) ? FrameStream.AllocationLimit(input[1..]) : 0);

    public override IEnumerable<Seed> Seeds() => ControlSeeds.All();

    public override void Run(ReadOnlySpan<byte> input)
    {
        if (IsStream(input))
        {
            for (var frames = new FrameStream(input[1..]); frames.MoveNext();)
            {
                Read(frames.Kind, frames.Body);
            }
        }
        else if (!input.IsEmpty)
        {
            Read(input[0], input[1..]);
        }
    }

    private static bool IsStream(ReadOnlySpan<byte> input) => !input.IsEmpty && input[0] == 0;

    private static void Read(int kind, ReadOnlySpan<byte> body)
    {
        if (Messages.TryGetValue(kind, out var read))
        {
            read(body);
        }
    }

    private static void Read<T>(ReadOnlySpan<byte> body)
        where T : IControlMessage, IReadableMessage<T>
    {
        if (ControlFrame.TryRead<T>(body, out var message, out _))
        {
            SameAgain(message, static bytes => T.Read(bytes));
        }
    }

    private static void ReadOpenViews(ReadOnlySpan<byte> body, int kind)
    {
        if (ControlFrame.TryRead(body, kind, OpenViewsMessage.Read, out var message, out _))
        {
            SameAgain(message, bytes => OpenViewsMessage.Read(bytes, kind));
        }
    }

    private static void ReadKnown(ReadOnlySpan<byte> body, int kind)
    {
        if (ControlFrame.TryRead(body, kind, KnownMessage.Read, out var message, out _))
        {
            SameAgain(message, bytes => KnownMessage.Read(bytes, kind));
        }
    }

    private static void ReadReason(ReadOnlySpan<byte> body, int kind)
    {
        if (ControlFrame.TryRead(body, kind, ReasonMessage.Read, out var message, out _))
        {
            SameAgain(message, bytes => ReasonMessage.Read(bytes, kind));
        }
    }

    private static void ReadSetTopic(ReadOnlySpan<byte> body)
    {
        if (!ControlFrame.TryRead<SetTopicMessage>(body, out var message, out _))
        {
            return;
        }

        // As the service does with what it has read.
        _ = ContractLimits.Problem(message.Topic.Name, message.Topic.Contract);
        if (message.ContractOf == 0)
        {
            SameAgain(message, static bytes => SetTopicMessage.Read(bytes));
        }
    }

    private static void ReadSigns(ReadOnlySpan<byte> body)
    {
        if (ControlFrame.TryRead(body, 0, static (bytes, _) => SnapshotMessage.ReadUnopened(bytes), out var told, out _))
        {
            ReadSignsOfNode(told.Signs);
        }
    }

    private static void ReadMemberSigns(ReadOnlySpan<byte> body)
    {
        Read<MemberSnapshotMessage>(body);
        if (ControlFrame.TryRead<MemberSnapshotMessage>(body, out var message, out _))
        {
            ReadSignsOfNode(message.Signs);
        }
    }

    private static void ReadSignsOfNode(ReadOnlySpan<byte> bytes)
    {
        if (ControlFrame.TryRead(bytes, 0, static (all, _) => NodeSnapshot.Read(all), out var signs, out _))
        {
            SameAgain(new SnapshotMessage { Question = 1, Signs = signs }, static all =>
                new SnapshotMessage { Question = 1, Signs = NodeSnapshot.Read(SnapshotMessage.ReadUnopened(all).Signs) });
        }
    }

    private delegate T Reading<T>(ReadOnlySpan<byte> body);

    private static void SameAgain<T>(in T message, Reading<T> read)
        where T : IControlMessage
    {
        byte[] once = Write(message);
        byte[] twice;
        try
        {
            twice = Write(read(once));
        }
        catch (QuickSilverException refused)
        {
            throw new FindingException($"{typeof(T).Name} was read and written, and cannot be read again: {refused.Message}");
        }

        FindingException.ThrowUnless(once.AsSpan().SequenceEqual(twice), $"{typeof(T).Name} is not what was written.");
    }

    private static byte[] Write<T>(in T message)
        where T : IControlMessage
    {
        var buffer = new ControlBuffer();
        message.Write(buffer);
        return buffer.Written.ToArray();
    }
}
