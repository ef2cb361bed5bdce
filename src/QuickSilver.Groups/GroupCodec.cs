using QuickSilver.Groups.Ordering;
using QuickSilver.Groups.Protocol;
using QuickSilver.Serialization;

namespace QuickSilver.Groups;

// The bytes of one group's channel at one member: the kind (1 byte), and the message in the application's codec.
//
// Invariant: only the core thread reads, and in the order of the events. So each message gets the view that was read before it. Writing
// uses nothing of that.
internal sealed class GroupCodec<TMessage>(string group, IPayloadCodec<TMessage> messages) : IPayloadCodec<GroupItem<TMessage>>
{
    private GroupView? _view;

    public PayloadSchema Schema => messages.Schema;

    public int GetSize(in GroupItem<TMessage> value) => checked(1 + messages.GetSize(value.Message!));

    public int GetMaxSize(in GroupItem<TMessage> value) => checked(1 + messages.GetMaxSize(value.Message!));

    public int Write(in GroupItem<TMessage> value, Span<byte> destination)
    {
        destination[0] = (byte)value.Frame;
        return 1 + messages.Write(value.Message!, destination[1..]);
    }

    public GroupItem<TMessage> Read(ReadOnlySpan<byte> source)
    {
        // The protocol passes nothing else on.
        var frame = (GroupFrame)source[0];
        if (frame == GroupFrame.View)
        {
            _view = new GroupView(group, ViewBody.ToView(topicId: 0, source));
            return new GroupItem<TMessage>(frame, default, _view) { Bytes = source.Length };
        }

        int begin = frame == GroupFrame.Causal ? StepsBody.Measure(source) : 1;
        if (begin < 0)
        {
            throw new PayloadFormatException("The message of a group is malformed: it does not have the steps that it counts.");
        }

        return new GroupItem<TMessage>(frame, messages.Read(source[begin..]), _view) { Bytes = source.Length };
    }
}
