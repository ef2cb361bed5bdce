using QuickSilver.Fuzz.Payloads;
using QuickSilver.Generators.Tests.Contracts;
using QuickSilver.Groups;
using QuickSilver.Groups.Endpoints;
using QuickSilver.Groups.Ordering;
using QuickSilver.Groups.Questions;
using QuickSilver.Membership.Views;
using QuickSilver.Serialization;

namespace QuickSilver.Fuzz.Groups;

// What members of a group send: order messages, what the protocol puts around the messages of an application, and answers to questions. The
// first byte of the input is that of the payload, or the letter with an answer. What was read is written and read again.
internal sealed class GroupTarget : FuzzTarget
{
    private const long Configuration = 7;

    private static readonly NodeKey[] Members = [new(1, 1), new(2, 1), new(3, 9)];
    private static readonly NodeKey Stranger = new(4, 2);
    private static readonly Tree Leaf = new() { Name = "leaf" };
    private static readonly GroupCodec<Tree> Messages = new("group", Codecs.Of<Tree>());

    public override string Name => "groups";

    public override IReadOnlyList<Type> Decoders { get; } =
        [typeof(StepsBody), typeof(GroupCodec<>), typeof(QuestionHead), typeof(ReplyBody), typeof(AskedQuestion<>)];

    public override IEnumerable<Seed> Seeds() =>
    [
        new("empty", Write(GroupFrame.Orders, [])),
        new("members", Write(
            GroupFrame.Orders, [new OrderStep(Members[1], 12), new OrderStep(Members[2], 3), new OrderStep(Members[1], 14)])),
        new("stranger", Write(GroupFrame.Orders, [new OrderStep(Stranger, 1), new OrderStep(Members[0], 2)])),
        new("handover", Write(GroupFrame.Handover, [new OrderStep(Members[1], 0)])),
        new("causal", [.. Write(GroupFrame.Causal, [new OrderStep(Members[2], 5)]), .. Codecs.Write(Codecs.Of<Tree>(), Leaf)]),
        new("message", Codecs.Write(Messages, new GroupItem<Tree>(GroupFrame.Safe, Leaf, null))),
        new("question", Codecs.Write(
            Messages, new GroupItem<Tree>(GroupFrame.Total, Leaf, null) { Question = new QuestionHead(3, QuestionHead.AllRanks) })),
        new("answer", ReplyBody.Answer(topic: 1, id: 3, Leaf, Codecs.Of<Tree>())),
        new("declined", ReplyBody.Decline(topic: 1, id: 3)),
    ];

    public override void Run(ReadOnlySpan<byte> input)
    {
        var steps = StepsBody.Read(input, Configuration, Members);
        if (steps.Length > 0)
        {
            var again = StepsBody.Read(Write(GroupFrame.Orders, steps), Configuration, Members);
            FindingException.ThrowUnless(again.AsSpan().SequenceEqual(steps), "What was read and written is read differently.");
        }

        if (ReplyBody.TryRead(input, out var head))
        {
            RunAnswer(head, input[ReplyBody.HeaderBytes..]);
        }

        if (GroupFrames.Of(input) is <= GroupFrame.Safe)
        {
            RunMessage(input);
        }
    }

    private static void RunAnswer(in ReplyHead head, ReadOnlySpan<byte> value)
    {
        var question = new AskedQuestion<Tree>(
            "group", GroupRepliers.All, Codecs.Of<Tree>(), static member => member.ToString(), TaskCreationOptions.None);
        question.OnDelivered([Members[0]]);
        question.OnReply(Members[0], head, value);
        FindingException.ThrowUnless(question.TryTake(out _, out _), "An answer of a member that was asked is lost.");
    }

    private static void RunMessage(ReadOnlySpan<byte> input)
    {
        try
        {
            // The protocol, and not the codec, writes what a causal message comes after.
            var message = Messages.Read(input) with { Frame = GroupFrame.Fifo };
            byte[] written = Codecs.Write(Messages, message);
            byte[] again = Codecs.Write(Messages, Messages.Read(written));
            FindingException.ThrowUnless(again.AsSpan().SequenceEqual(written), "What was read and written is read differently.");
        }
        catch (PayloadFormatException)
        {
        }
    }

    private static byte[] Write(GroupFrame frame, OrderStep[] steps)
    {
        byte[] body = new byte[StepsBody.HeaderBytes + (steps.Length * (StepsBody.StepBytes + 12))];
        StepsBody.WriteHeader(body, frame, Configuration, steps.Length);
        int length = StepsBody.HeaderBytes;
        foreach (var step in steps)
        {
            int rank = Array.IndexOf(Members, step.Sender);
            length += StepsBody.Write(body.AsSpan(length), rank < 0 ? int.MaxValue : rank, step);
        }

        return body[..length];
    }
}
