using QuickSilver.Groups.Ordering;
using QuickSilver.Groups.Questions;

namespace QuickSilver.Groups.Endpoints;

// An element of a group's channel as its endpoint has it: a message to send, or an event that came. Of an event, the view in which it came.
internal readonly record struct GroupItem<TMessage>(GroupFrame Frame, TMessage? Message, GroupView? View)
{
    /// <summary>Null: the message is no question.</summary>
    public QuestionHead? Question { get; init; }

    /// <summary>Of an event that came, the size of its payload in bytes.</summary>
    public int Bytes { get; init; }
}
