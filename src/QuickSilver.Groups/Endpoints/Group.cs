using System.Runtime.CompilerServices;
using QuickSilver.Endpoints;
using QuickSilver.Groups.Ordering;
using QuickSilver.Groups.Questions;
using QuickSilver.Membership.Views;
using QuickSilver.Serialization;

namespace QuickSilver.Groups.Endpoints;

// One group on one node: an endpoint whose messages are the group's events.
internal sealed class Group<TMessage>(TopicEndpoint<GroupItem<TMessage>> endpoint, GroupOrder order, ReplyDesk desk)
    : IGroup<TMessage>
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

    public IAsyncEnumerable<GroupReply<TReply>> AskAsync<TReply>(
        TMessage question, QuestionOptions? options = null, CancellationToken cancellationToken = default) =>
        AskAsync(question, QuickSilverNode.CodecOf<TReply>(), options, cancellationToken);

    public IAsyncEnumerable<GroupReply<TReply>> AskAsync<TReply>(
        TMessage question, IPayloadCodec<TReply> codec, QuestionOptions? options = null, CancellationToken cancellationToken = default)
    {
        if (question is null)
        {
            throw new ArgumentNullException(nameof(question));
        }

        ArgumentNullException.ThrowIfNull(codec);
        endpoint.CheckUsable();
        return EnumerateAsync(question, codec, (options ?? new QuestionOptions()).Checked(), cancellationToken);
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

    private async IAsyncEnumerable<GroupReply<TReply>> EnumerateAsync<TReply>(
        TMessage message,
        IPayloadCodec<TReply> codec,
        QuestionOptions options,
        [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var node = desk.Node;
        var question = new AskedQuestion<TReply>(Name, options.Repliers, codec, NameOf, node.Completions);
        long begun = node.OutsideTime.GetTimestamp();
        try
        {
            long id = await desk.BeginAsync(question, cancellationToken).ConfigureAwait(node.ResumesInContext);
            var head = new QuestionHead(id, (ushort)(options.Repliers.OnlyRank ?? QuestionHead.AllRanks));
            var item = new GroupItem<TMessage>((GroupFrame)(options.Order ?? order), message, null) { Question = head };
            await endpoint.PublishAsync(in item, cancellationToken).ConfigureAwait(node.ResumesInContext);
            bool isTimedOut = false;
            while (true)
            {
                cancellationToken.ThrowIfCancellationRequested();
                if (TryTake(question, out var reply, out var wait))
                {
                    yield return reply;
                }
                else if (wait is null)
                {
                    yield break;
                }
                else if (isTimedOut)
                {
                    // The core thread ends the question.
                    await node.UntilEndedAsync(wait, cancellationToken).ConfigureAwait(node.ResumesInContext);
                }
                else if (!await desk.IsWokenAsync(wait, options.Timeout - node.OutsideTime.GetElapsedTime(begun), cancellationToken)
                    .ConfigureAwait(node.ResumesInContext))
                {
                    isTimedOut = true;
                    node.Run(() => question.OnTimeout(options.Timeout));
                }
            }
        }
        finally
        {
            desk.End(question);
        }
    }

    private bool TryTake<TReply>(AskedQuestion<TReply> question, out GroupReply<TReply> reply, out Task? wait)
    {
        try
        {
            return question.TryTake(out reply, out wait);
        }
        catch (ObjectDisposedException) when (endpoint.EndReason is QuickSilverException reason)
        {
            // The core thread knows only that the group has ended.
            throw reason;
        }
    }

    private string NameOf(NodeKey key) => desk.Node.Named(new NodeId(key.Id, key.Incarnation)).ToString()!;

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
            item.View!, sender, item.Message!, item.Question is { } head ? desk.QuestionOf(head, item.View!, sender) : null);
}
