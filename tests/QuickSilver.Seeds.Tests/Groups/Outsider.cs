using QuickSilver.Groups;
using QuickSilver.Simulation;

namespace QuickSilver.Seeds.Tests.Groups;

// One life of a node that sends to a group and is no member: messages of all orders, one by one and in bursts, and questions.
/// <param name="node">The node.</param>
/// <param name="name">The group.</param>
/// <param name="wrong">Called with what must not happen.</param>
internal sealed class Outsider(SimulatedNode node, string name, Action<string> wrong)
{
    // Longer than a seed takes: a member that fails must be reported before.
    private static readonly TimeSpan LongestAnswer = TimeSpan.FromHours(1);
    private static readonly GroupOrder[] Orders = Enum.GetValues<GroupOrder>();

    private IGroupSender<string>? _group;
    private int _number;
    private Task _work = Task.CompletedTask;

    public bool IsIdle => _work.IsCompleted;

    /// <summary>Opens the group, and sends and asks until it is over.</summary>
    public Task Live(Func<bool> isOver) => Do(async () =>
    {
        _group = await node.Node.OpenGroupSenderAsync<string>(name);
        while (!isOver())
        {
            await SendAsync(node.Random.Next(20) == 0 ? node.Random.Next(2, 30) : 1);
            if (node.Random.Next(100) == 0)
            {
                await AskAsync();
            }

            await Task.Delay(node.Random.NextDouble() * TimeSpan.FromMilliseconds(20), node.Time);
        }
    });

    /// <summary>Sends some messages with nothing between them, and asks.</summary>
    public Task Burst(int messages) => Do(async () =>
    {
        await SendAsync(messages);
        await AskAsync();
    });

    private Task Do(Func<Task> what)
    {
        return _work = AfterAsync(_work);

        async Task AfterAsync(Task before)
        {
            await before;
            try
            {
                await what();
            }
            catch (Exception exception) when (exception is NodeExpelledException or ObjectDisposedException)
            {
                // The process ends, or the node is a member of the cluster no more.
            }
        }
    }

    private async Task SendAsync(int messages)
    {
        for (; messages > 0 && _group is { } group; messages--)
        {
            var order = NextOrder();
            await group.SendAsync(SentMessage.TextOf(_number++, order, after: 0, padding: 0), order);
        }
    }

    // Each member gives one reply, and one that gives none has left.
    private async Task AskAsync()
    {
        if (_group is not { } group)
        {
            return;
        }

        var order = NextOrder();
        int number = _number++;
        var members = new HashSet<NodeId>();
        string text = SentMessage.TextOf(number, order, after: 0, padding: 0);
        await foreach (var reply in group.AskAsync<string>(text, new QuestionOptions { Order = order, Timeout = LongestAnswer }))
        {
            bool isFirst = members.Add(reply.Member);
            if (!isFirst || !(reply.Outcome == GroupReplyOutcome.Left || (reply.IsAnswer && reply.Value == text)))
            {
                wrong($"Node {node.Number} has {reply} to question {number}, {(isFirst ? "its first" : "not its first")}.");
            }
        }
    }

    private GroupOrder NextOrder() => Orders[node.Random.Next(Orders.Length)];
}
