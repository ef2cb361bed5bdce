using System.Runtime.CompilerServices;
using QuickSilver.Endpoints;
using QuickSilver.Groups.Ordering;

namespace QuickSilver.Groups.Endpoints;

// One group on a node that is a member: an endpoint whose messages are the group's events.
internal sealed class Group<TMessage>(TopicEndpoint<GroupItem<TMessage>> endpoint, GroupOrder order, ReplyDesk desk)
    : GroupSending<TMessage>(endpoint, order, desk), IGroup<TMessage>
{
    public IAsyncEnumerable<GroupEvent<TMessage>> ReadAllAsync(
        Action<GapNotice>? onGap = null, CancellationToken cancellationToken = default) =>
        ReadAsync(Endpoint.ReadAllAsync(onGap, cancellationToken));

    public ISubscription SubscribeInline(
        GroupHandler<TMessage> handler, Action<GapNotice>? onGap = null, Action<SubscriptionEnd>? onEnded = null)
    {
        ArgumentNullException.ThrowIfNull(handler);
        GroupView? last = null;
        return Endpoint.SubscribeInline(Handle, onGap, onEnded);

        void Handle(in Message<GroupItem<TMessage>> message)
        {
            var item = message.Value;
            if (IsWithoutView(item, last))
            {
                handler(new GroupEvent<TMessage>(item.View!));
            }

            last = item.View;
            handler(EventOf(item, message.Sender));
        }
    }

    // Awaits in the caller's context, so that gap notices are reported where events are read.
    private async IAsyncEnumerable<GroupEvent<TMessage>> ReadAsync(
        IAsyncEnumerable<Message<GroupItem<TMessage>>> messages, [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        GroupView? last = null;
        await foreach (var message in messages.WithCancellation(cancellationToken))
        {
            var item = message.Value;
            if (IsWithoutView(item, last))
            {
                yield return new GroupEvent<TMessage>(item.View!);
            }

            last = item.View;
            yield return EventOf(item, message.Sender);
        }
    }

    // The buffer drops the oldest events while nothing reads it, and views may be among them.
    private static bool IsWithoutView(in GroupItem<TMessage> item, GroupView? last) => item.Frame != GroupFrame.View && item.View != last;

    public GroupEvent<TMessage> EventOf(in GroupItem<TMessage> item, NodeId sender) => item.Frame == GroupFrame.View
        ? new GroupEvent<TMessage>(item.View!)
        : new GroupEvent<TMessage>(
            item.View!, sender, item.Message!, item.Question is { } head ? Desk.QuestionOf(head, item.View!, sender) : null);
}
