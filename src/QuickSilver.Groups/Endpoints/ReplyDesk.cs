using QuickSilver.Endpoints;
using QuickSilver.Groups.Questions;
using QuickSilver.Membership.Views;
using QuickSilver.Serialization;

namespace QuickSilver.Groups.Endpoints;

// The questions of one group on one node, for the application: from any thread. What the core thread has of them is set when the group is
// opened.
internal sealed class ReplyDesk(IEndpointNode node, string group, NodeId self, AskedQuestions asked)
{
    private readonly ulong _topic = TopicId.Of(group);

    public string Group => group;

    public IEndpointNode Node => node;

    /// <summary>Makes a question known to the core thread, so that answers find it. Completes with its number.</summary>
    public async Task<long> BeginAsync<TReply>(AskedQuestion<TReply> question, CancellationToken cancellationToken)
    {
        node.Run(() => asked.Begin(question));
        await node.UntilEndedAsync(question.Begun, cancellationToken).ConfigureAwait(node.ResumesInContext);
        return await question.Begun.ConfigureAwait(node.ResumesInContext);
    }

    /// <summary>The application takes no replies any more. Also of a question for whose number it did not wait.</summary>
    public void End(IAskedQuestion question) => node.Run(() => asked.End(question));

    /// <summary>The question that an event is, if this member is to answer it; otherwise null.</summary>
    public GroupQuestion? QuestionOf(QuestionHead head, GroupView view, NodeId asker) =>
        head.IsForAll || view.RankOf(self) == head.Rank ? new GroupQuestion(this, asker, head.Id) : null;

    /// <summary>Waits for the core thread. False: the time is over.</summary>
    public async ValueTask<bool> IsWokenAsync(Task wait, TimeSpan rest, CancellationToken cancellationToken)
    {
        if (rest <= TimeSpan.Zero)
        {
            return false;
        }

        try
        {
            await node.UntilEndedAsync(wait, cancellationToken).WaitAsync(rest, node.OutsideTime, cancellationToken)
                .ConfigureAwait(node.ResumesInContext);
            return true;
        }
        catch (TimeoutException)
        {
            return false;
        }
    }

    public byte[] Encode<TReply>(long id, TReply reply, IPayloadCodec<TReply> codec) => ReplyBody.Answer(_topic, id, reply, codec);

    public byte[] Decline(long id) => ReplyBody.Decline(_topic, id);

    public ValueTask SendAsync(NodeId to, byte[] letter)
    {
        var sent = new TaskCompletionSource(node.Completions);
        node.Run(() => asked.Post.Send(new NodeKey(to.Id, to.Incarnation), letter, sent));
        return new ValueTask(WaitAsync(sent.Task));
    }

    private async Task WaitAsync(Task sent)
    {
        await node.UntilEndedAsync(sent, CancellationToken.None).ConfigureAwait(node.ResumesInContext);
        await sent.ConfigureAwait(node.ResumesInContext);
    }
}
