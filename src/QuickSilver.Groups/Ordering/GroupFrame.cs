namespace QuickSilver.Groups.Ordering;

// The first byte of each payload in a group's channel. What follows is the application's message, or a body of the protocol.
internal enum GroupFrame : byte
{
    /// <summary>A message in the order of its sender.</summary>
    Fifo = 0,

    /// <summary>A message after all that its sender had got, which it names (<see cref="StepsBody"/>).</summary>
    Causal = 1,

    /// <summary>A message in the one order of the group.</summary>
    Total = 2,

    /// <summary>A message in the one order of the group that all members hold before one of them passes it on.</summary>
    Safe = 3,

    /// <summary>Which messages are next in the order of the group (<see cref="StepsBody"/>).</summary>
    Orders = 4,

    /// <summary>A view, between the messages of its member. It is never sent.</summary>
    View = 5,

    /// <summary>From here on another member orders: the one step names it (<see cref="StepsBody"/>).</summary>
    Handover = 6,
}

internal static class GroupFrames
{
    // A message of the application with this bit is a question.
    private const byte Question = 0x80;

    /// <summary>The kind of a payload; null if it has none that is known.</summary>
    public static GroupFrame? Of(ReadOnlySpan<byte> payload) => payload switch
    {
        [<= (byte)GroupFrame.Handover and var kind, ..] => (GroupFrame)kind,
        [>= Question and <= (Question | (byte)GroupFrame.Safe) and var kind, ..] => (GroupFrame)(kind & ~Question),
        _ => null,
    };

    /// <summary>Whether a payload that has a kind is a question.</summary>
    public static bool IsQuestion(ReadOnlySpan<byte> payload) => payload[0] >= Question;

    /// <summary>The first byte of a message.</summary>
    public static byte ByteOf(GroupFrame frame, bool isQuestion) => (byte)((byte)frame | (isQuestion ? Question : 0));

    /// <summary>
    /// Where what the application sends begins in a message: behind the kind, and behind what a causal message names. -1: it is malformed.
    /// </summary>
    public static int BeginOf(ReadOnlySpan<byte> payload) => Of(payload) == GroupFrame.Causal ? StepsBody.Measure(payload) : 1;
}
