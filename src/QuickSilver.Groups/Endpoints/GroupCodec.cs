using QuickSilver.Groups.Ordering;
using QuickSilver.Groups.Protocol;
using QuickSilver.Groups.Questions;
using QuickSilver.Serialization;

namespace QuickSilver.Groups.Endpoints;

// The bytes of one group's channel at one member: the kind (1 byte), of a question its head, and the message in the application's codec.
//
// Invariant: only the core thread reads, and in the order of the events. So each message gets the view that was read before it. Writing
// uses nothing of that.
internal sealed class GroupCodec<TMessage>(string group, IPayloadCodec<TMessage> messages) : IPayloadCodec<GroupItem<TMessage>>
{
    private GroupView? _view;

    public PayloadSchema Schema => messages.Schema;

    public int GetSize(in GroupItem<TMessage> value) => checked(HeadBytes(value) + messages.GetSize(value.Message!));

    public int GetMaxSize(in GroupItem<TMessage> value) => checked(HeadBytes(value) + messages.GetMaxSize(value.Message!));

    public int Write(in GroupItem<TMessage> value, Span<byte> destination)
    {
        destination[0] = GroupFrames.ByteOf(value.Frame, isQuestion: value.Question is not null);
        value.Question?.Write(destination[1..]);
        int head = HeadBytes(value);
        return head + messages.Write(value.Message!, destination[head..]);
    }

    public GroupItem<TMessage> Read(ReadOnlySpan<byte> source)
    {
        // The protocol passes nothing else on.
        var frame = GroupFrames.Of(source)!.Value;
        if (frame == GroupFrame.View)
        {
            _view = new GroupView(group, ViewBody.ToView(topicId: 0, source));
            return new GroupItem<TMessage>(frame, default, _view) { Bytes = source.Length };
        }

        int begin = GroupFrames.BeginOf(source);
        if (begin < 0)
        {
            throw new PayloadFormatException("The message of a group is malformed: it does not have the steps that it counts.");
        }

        if (!GroupFrames.IsQuestion(source))
        {
            return new GroupItem<TMessage>(frame, messages.Read(source[begin..]), _view) { Bytes = source.Length };
        }

        return QuestionHead.TryRead(source[begin..], out var question)
            ? new GroupItem<TMessage>(frame, messages.Read(source[(begin + QuestionHead.Bytes)..]), _view)
            {
                Bytes = source.Length,
                Question = question,
            }
            : throw new PayloadFormatException("The question of a group is malformed: it is shorter than its head.");
    }

    private static int HeadBytes(in GroupItem<TMessage> value) => 1 + (value.Question is null ? 0 : QuestionHead.Bytes);
}
