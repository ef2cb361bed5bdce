using QuickSilver.Groups;
using QuickSilver.Simulation;

namespace QuickSilver.Seeds.Tests.Groups;

// One life of a node as a member of a group. It reads at once or slowly, sends messages of several sizes in all orders, one by one and in
// bursts, and leaves the group and comes back. Each time that it is in the group it has a log.
internal sealed class GroupMember(SimulatedNode node, string name, bool orderMoves, Action<MemberLog> opened, Action<AskedLog> answered)
{
    private const int MostPadding = 3_000;
    private const int FewCapacity = 16;
    // Longer than a seed takes: a member that fails must be reported before.
    private static readonly TimeSpan LongestAnswer = TimeSpan.FromHours(1);

    private static readonly GroupOrder[] Orders = Enum.GetValues<GroupOrder>();

    private readonly bool _isSlow = node.Random.Next(4) == 0;
    private IGroup<string>? _group;
    private MemberLog? _log;
    private int _number;
    // What it does, one after the other, so that its messages are sent in the order of their numbers.
    private Task _work = Task.CompletedTask;

    /// <summary>Null while it is not in the group.</summary>
    public MemberLog? Log => _group is null ? null : _log;

    public bool IsIdle => _work.IsCompleted;

    /// <summary>Opens the group, and sends until it is over.</summary>
    public Task Live(Func<bool> isOver) => Do(async () =>
    {
        await OpenAsync();
        var interval = TimeSpan.FromMilliseconds(node.Random.Next(1, 20));
        while (!isOver())
        {
            bool isBurst = node.Random.Next(50) == 0;
            await SendAsync(isBurst ? node.Random.Next(2, 30) : 1, node.Random.Next(20) == 0);
            if (node.Random.Next(500) == 0)
            {
                await ReopenAsync(TimeSpan.FromMilliseconds(200));
            }

            await Task.Delay(2 * node.Random.NextDouble() * interval, node.Time);
        }
    });

    /// <summary>Sends some messages with nothing between them.</summary>
    public Task Burst(int messages, bool isLarge) => Do(() => SendAsync(messages, isLarge));

    /// <summary>Sends messages one by one, as a member whose messages alone are in the order.</summary>
    public Task Solo(int messages) => Do(async () =>
    {
        for (; messages > 0; messages--)
        {
            await SendAsync(messages: 1, isLarge: false);
            await Task.Delay(TimeSpan.FromMilliseconds(1), node.Time);
        }
    });

    /// <summary>Asks all members, and waits for their answers.</summary>
    public Task Ask(GroupOrder order) => Do(async () =>
    {
        if (_group is { } group)
        {
            var (log, number) = (_log!, _number++);
            var asked = new AskedLog(log, number);
            log.Sent = number;
            string text = SentMessage.TextOf(number, order, log.Messages, padding: 0);
            await foreach (var reply in group.AskAsync<string>(text, new QuestionOptions { Order = order, Timeout = LongestAnswer }))
            {
                asked.Replies.Add(reply);
            }

            answered(asked);
        }
    });

    /// <summary>Leaves the group, and opens it again.</summary>
    public Task Reopen() => Do(() => ReopenAsync(TimeSpan.FromMilliseconds(20)));

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
                // The process ends, or the node is a member no more.
            }
        }
    }

    private async Task OpenAsync()
    {
        var group = await node.Node.OpenGroupAsync<string>(name, new GroupOptions
        {
            ReaderCapacity = _isSlow ? FewCapacity : 1 << 20,
            OrderFollowsTraffic = orderMoves,
        });
        var log = new MemberLog(node.Node.Id, node.Number, node.Lives);
        (_group, _log) = (group, log);
        opened(log);
        if (_isSlow)
        {
            node.Post(() => ReadAsync(group, log));
        }
        else
        {
            group.SubscribeInline(
                (in GroupEvent<string> one) =>
                {
                    log.Add(one);
                    Answer(one);
                },
                log.AddGap,
                end => log.End = end);
        }
    }

    private async Task ReopenAsync(TimeSpan longestPause)
    {
        if (_group is { } group)
        {
            _group = null;
            _log!.HasLeft = true;
            await group.DisposeAsync();
            await Task.Delay(node.Random.NextDouble() * longestPause, node.Time);
            await OpenAsync();
        }
    }

    private async Task SendAsync(int messages, bool isLarge)
    {
        for (; messages > 0 && _group is { } group; messages--)
        {
            var (log, isMember, number) = (_log!, _log!.Last is not null, _number++);
            var order = Orders[node.Random.Next(Orders.Length)];
            int padding = isLarge ? node.Random.Next(MostPadding) : 0;
            await group.SendAsync(SentMessage.TextOf(number, order, log.Messages, padding), order);
            // What is sent before the first view may be of the view before it, which it does not get.
            log.Sent = isMember ? number : log.Sent;
        }
    }

    private static void Answer(in GroupEvent<string> one)
    {
        if (one.Question is { } question && one.TryGetMessage(out string? text))
        {
            _ = question.ReplyAsync(text);
        }
    }

    private async Task ReadAsync(IGroup<string> group, MemberLog log)
    {
        try
        {
            await foreach (var one in group.ReadAllAsync(log.AddGap))
            {
                log.Add(one);
                Answer(one);
                await Task.Delay(node.Random.NextDouble() * TimeSpan.FromMilliseconds(5), node.Time);
            }
        }
        catch (NodeExpelledException exception)
        {
            log.End = new SubscriptionEnd(SubscriptionEndReason.NodeExpelled, exception);
        }
        catch (ObjectDisposedException) when (log.HasLeft)
        {
        }
    }
}
