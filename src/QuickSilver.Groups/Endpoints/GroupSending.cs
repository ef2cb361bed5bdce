using System.Runtime.CompilerServices;
using QuickSilver.Endpoints;
using QuickSilver.Groups.Ordering;
using QuickSilver.Groups.Questions;
using QuickSilver.Membership.Views;
using QuickSilver.Serialization;

namespace QuickSilver.Groups.Endpoints;

// What a node sends to one group, as a member or not, and what it asks.
internal class GroupSending<TMessage>(TopicEndpoint<GroupItem<TMessage>> endpoint, GroupOrder order, ReplyDesk desk)
    : IGroupSender<TMessage>
{
    public string Name => endpoint.Name;

    protected TopicEndpoint<GroupItem<TMessage>> Endpoint => endpoint;

    protected ReplyDesk Desk => desk;

    public ValueTask SendAsync(TMessage message, CancellationToken cancellationToken = default) =>
        SendInAsync(message, order, cancellationToken);

    public ValueTask SendAsync(TMessage message, GroupOrder order, CancellationToken cancellationToken = default)
    {
        GroupOptions.CheckOrder(order);
        return SendInAsync(message, order, cancellationToken);
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
}
