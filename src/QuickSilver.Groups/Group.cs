using System.Runtime.CompilerServices;
using QuickSilver.Endpoints;
using QuickSilver.Groups.Ordering;

namespace QuickSilver.Groups;

// One group on one node: an endpoint whose messages are the group's events.
internal sealed class Group<TMessage>(TopicEndpoint<GroupItem<TMessage>> endpoint, GroupOrder order) : IGroup<TMessage>
{
    public string Name => endpoint.Name;

    public ValueTask SendAsync(TMessage message, CancellationToken cancellationToken = default) =>
        SendInAsync(message, order, cancellationToken);

    public ValueTask SendAsync(TMessage message, GroupOrder order, CancellationToken cancellationToken = default)
    {
        GroupOptions.CheckOrder(order);
        return SendInAsync(message, order, cancellationToken);
    }

    public IAsyncEnumerable<GroupEvent<TMessage>> ReadAllAsync(
        Action<GapNotice>? onGap = null, CancellationToken cancellationToken = default) =>
        ReadAsync(endpoint.ReadAllAsync(onGap, cancellationToken));

    public ISubscription SubscribeInline(
        GroupHandler<TMessage> handler, Action<GapNotice>? onGap = null, Action<SubscriptionEnd>? onEnded = null)
    {
        ArgumentNullException.ThrowIfNull(handler);
        GroupView? last = null;
        return endpoint.SubscribeInline(Handle, onGap, onEnded);

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

    public Task DrainAsync(CancellationToken cancellationToken = default) => endpoint.DrainAsync(cancellationToken);

    public ValueTask DisposeAsync() => endpoint.DisposeAsync();

    private ValueTask SendInAsync(TMessage message, GroupOrder order, CancellationToken cancellationToken)
    {
        if (message is null)
        {
            throw new ArgumentNullException(nameof(message));
        }

        var item = new GroupItem<TMessage>((GroupFrame)order, message, null);
        return endpoint.PublishAsync(in item, cancellationToken);
    }

    // Awaits in the caller's context, so that gap notices are reported where events are read.
    private static async IAsyncEnumerable<GroupEvent<TMessage>> ReadAsync(
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

    internal static GroupEvent<TMessage> EventOf(in GroupItem<TMessage> item, NodeId sender) => item.Frame == GroupFrame.View
        ? new GroupEvent<TMessage>(item.View!)
        : new GroupEvent<TMessage>(item.View!, sender, item.Message!);
}
