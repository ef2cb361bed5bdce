using QuickSilver.Groups;
using QuickSilver.Simulation;

namespace QuickSilver.Seeds.Tests.Groups;

// One life of a node as a member of a group with a state. It sends messages of several sizes in all orders once it has the state, one by
// one and in bursts, and leaves the group and comes back. Each time that it is in the group it has a handler of its own.
internal sealed class StateMember(SimulatedNode node, string name, Action<ListState> begun)
{
    private const int MostPadding = 3_000;

    private static readonly GroupOrder[] Orders = Enum.GetValues<GroupOrder>();

    private readonly TimeSpan _pause = node.Random.Next(3) == 0 ? TimeSpan.FromMilliseconds(2) : TimeSpan.Zero;
    private IGroup<string>? _group;
    private int _number;
    // What it does, one after the other, so that its messages are sent in the order of their numbers.
    private Task _work = Task.CompletedTask;

    /// <summary>What its handler has; null while it is not in the group.</summary>
    public ListState? State { get; private set; }

    public bool IsIdle => _work.IsCompleted && _group is not null;

    /// <summary>Opens the group, and sends until it is over.</summary>
    public Task Live(Func<bool> isOver) => Do(async () =>
    {
        await OpenAsync();
        var interval = TimeSpan.FromMilliseconds(node.Random.Next(2, 20));
        while (!isOver())
        {
            await SendAsync(1, node.Random.Next(20) == 0);
            await Task.Delay(2 * node.Random.NextDouble() * interval, node.Time);
        }
    });

    /// <summary>Sends some messages with nothing between them. The group must not lose them.</summary>
    public Task Burst(int messages, bool isLarge) => Do(async () =>
    {
        await SendAsync(messages, isLarge);
        if (State is { } state)
        {
            state.Sent = _number - 1;
        }
    });

    /// <summary>Leaves the group, and opens it again.</summary>
    public Task Reopen() => Do(async () =>
    {
        if (_group is { } group)
        {
            (_group, State) = (null, null);
            await group.DisposeAsync();
            await Task.Delay(node.Random.NextDouble() * TimeSpan.FromMilliseconds(20), node.Time);
            await OpenAsync();
        }
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
                // The process ends, or the node is a member no more.
            }
        }
    }

    private async Task OpenAsync()
    {
        var state = State = new ListState(node, _pause);
        begun(state);
        _group = await node.Node.OpenGroupAsync(name, state);
        state.IsOpened = true;
    }

    private async Task SendAsync(int messages, bool isLarge)
    {
        for (; messages > 0 && _group is { } group; messages--)
        {
            var order = Orders[node.Random.Next(Orders.Length)];
            int padding = isLarge ? node.Random.Next(MostPadding) : 0;
            await group.SendAsync(SentMessage.TextOf(_number++, order, State!.Messages, padding), order);
        }
    }
}
