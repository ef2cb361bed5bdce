using QuickSilver.Simulation.Tests.Infrastructure;
using QuickSilver.States;
using QuickSilver.States.Joining;

namespace QuickSilver.Simulation.Tests.Clusters.States;

// Members that are asked for a state and do not give it, or give something else. They keep others from it no longer than they must, and
// the status names them.
public sealed class StateSourceTests : IDisposable
{
    private const string Name = "prices";
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private readonly SimulatedCluster _cluster = new(nodes: 5, seed: 4);
    private readonly Dictionary<(NodeId, long), int> _boxes = [];
    private int _asks;

    public StateSourceTests() => _cluster.Start();

    public enum Lie
    {
        Nothing,
        Busy,
        Unreadable,
        EmptyPieces,
        TheSameAgain,
        NewKeysWithoutEnd,
        WrongEnd,
    }

    public void Dispose() => _cluster.Dispose();

    // Two are complete, and a joiner asks one of them; of two joiners one asks the liar first.
    [Theory]
    [InlineData(Lie.Nothing)]
    [InlineData(Lie.Busy)]
    [InlineData(Lie.Unreadable)]
    [InlineData(Lie.EmptyPieces)]
    [InlineData(Lie.TheSameAgain)]
    [InlineData(Lie.NewKeysWithoutEnd)]
    [InlineData(Lie.WrongEnd)]
    public void A_source_that_lies_keeps_no_node_from_what_another_one_has(Lie lie)
    {
        var honest = Open(0);
        Set(honest, "UAL", "1");
        Lies(1, lie, isComplete: true);
        foreach (int joiner in (int[])[2, 3, 4])
        {
            var state = Open(joiner);
            Assert.True(state.IsComplete);
            Assert.True(state.TryGet("UAL", out _));
        }

        Assert.True(_asks > 0);
        _cluster.Run(Second);
        Assert.All(_cluster.Nodes, static node => Assert.Empty(node.Node.Status.Reasons));
    }

    // All are new, and one takes from each.
    [Theory]
    [InlineData(Lie.Nothing)]
    [InlineData(Lie.Busy)]
    [InlineData(Lie.Unreadable)]
    [InlineData(Lie.EmptyPieces)]
    [InlineData(Lie.TheSameAgain)]
    [InlineData(Lie.NewKeysWithoutEnd)]
    [InlineData(Lie.WrongEnd)]
    public void When_no_node_is_complete_a_source_that_lies_is_left_out(Lie lie)
    {
        Lies(Highest(), lie, isComplete: false);
        AllOpen(Highest(), TimeSpan.FromMinutes(5));
    }

    [Fact]
    public void When_the_first_one_never_takes_the_next_one_takes_from_each_after_ten_attempts()
    {
        int first = Order().First();
        Lies(first, Lie.Nothing, isComplete: false);
        int joiner = Order().Last();
        var opening = OpenLater(joiner);
        _cluster.Run(Second * 3);
        Assert.Equal(0, _asks);
        _cluster.Run(Second * 3);
        Assert.False(opening.IsCompleted);
        var reason = Assert.Single(_cluster.Nodes[joiner].Node.Status.Reasons);
        Assert.Equal(StatusReasonKind.StateOpening, reason.Kind);
        Assert.Equal($"node node-{first} ({_cluster.Nodes[first].Node.Id})", reason.WaitsFor);
        Assert.True(_cluster.RunUntilCompleted(opening, TimeSpan.FromMinutes(2)).IsComplete);
        Assert.InRange(_asks, 1, 10);
    }

    [Fact]
    public void A_node_that_waits_for_a_state_says_whom_it_asked_and_so_does_the_exception_of_its_opening()
    {
        const int Liar = 1;
        Lies(Liar, Lie.Nothing, isComplete: true);
        var node = _cluster.Nodes[2];
        using var giveUp = new CancellationTokenSource();
        Exception? error = null;
        node.Post(async () =>
        {
            try
            {
                await node.Node.OpenStateAsync<string, string>(Name, cancellationToken: giveUp.Token);
            }
            catch (OperationCanceledException exception)
            {
                error = exception;
            }
        });
        _cluster.Run(StateAsks.NamedAfter - Second);
        Assert.Empty(node.Node.Status.Reasons);
        _cluster.Run(Second * 20);
        var reason = Assert.Single(node.Node.Status.Reasons);
        Assert.Equal(StatusReasonKind.StateOpening, reason.Kind);
        Assert.StartsWith(
            $"State \"{Name}\" does not have the content that other nodes have. ", reason.Description, StringComparison.Ordinal);
        Assert.Contains($"node node-1 ({_cluster.Nodes[Liar].Node.Id}) ", reason.Description, StringComparison.Ordinal);
        Assert.True(node.Node.Status.IsReady);

        node.Post(() =>
        {
            giveUp.Cancel();
            return Task.CompletedTask;
        });
        _cluster.Eventually("the opening ends", () => error is not null);
        Assert.StartsWith(
            $"The opening of state \"{Name}\" was cancelled. State \"{Name}\" does not ", error?.Message, StringComparison.Ordinal);
        Assert.Contains($"node node-1 ({_cluster.Nodes[Liar].Node.Id}) ", error?.Message, StringComparison.Ordinal);
        Assert.Empty(node.Node.Status.Reasons);
    }

    [Fact]
    public void The_outcome_of_a_request_is_known_until_the_next_one_ends()
    {
        Lies(1, Lie.Unreadable, isComplete: true);
        _ = OpenLater(2);
        _cluster.Run(StateAsks.NamedAfter + Second);
        for (int i = 0; i < 1500; i++)
        {
            var reason = Assert.Single(_cluster.Nodes[2].Node.Status.Reasons);
            Assert.Equal(StatusReasonKind.StateOpening, reason.Kind);
            Assert.EndsWith(
                $" node node-1 ({_cluster.Nodes[1].Node.Id}) gave what cannot be read.", reason.Description, StringComparison.Ordinal);
            _cluster.Run(Second / 100);
        }
    }

    [Fact]
    public void The_reason_ends_when_the_state_is_complete()
    {
        const int Liar = 1;
        var member = Lies(Liar, Lie.Nothing, isComplete: true);
        var opening = OpenLater(2);
        _cluster.Run(Second * 10);
        Assert.Single(_cluster.Nodes[2].Node.Status.Reasons);
        member.OnMessage = (sender, message) => Answer(member, sender, message, Lie.WrongEnd, isComplete: true, end: 0);
        _cluster.RunUntilCompleted(opening, Second * 30);
        _cluster.Run(Second / 10);
        Assert.Empty(_cluster.Nodes[2].Node.Status.Reasons);
    }

    // A member that lies about the number of a joiner's hello, and about nodes that there are not.
    [Fact]
    public void Marks_for_other_numbers_and_other_nodes_keep_no_node_out()
    {
        var honest = Open(0);
        Set(honest, "UAL", "1");
        var liar = new StateByHand(_cluster, 1, Name);
        for (uint i = 0; i < 3000; i++)
        {
            liar.Mark(new NodeId(i, 1), 1, isComplete: false);
        }

        foreach (int joiner in (int[])[2, 3, 4])
        {
            liar.Mark(_cluster.Nodes[joiner].Node.Id, long.MaxValue, isComplete: false);
        }

        _cluster.Run(Second);
        foreach (int joiner in (int[])[2, 3, 4])
        {
            var state = _cluster.RunUntilCompleted(OpenLater(joiner), Second * 10);
            Assert.Equal((1, true), (state.Count, state.IsComplete));
        }
    }

    // A node that joined meanwhile may not get what a member sends that does not answer its hello.
    [Fact]
    public void Messages_of_a_member_that_answers_no_hello_are_forwarded_for_a_minute()
    {
        var state = Open(0);
        var silent = new StateByHand(_cluster, 1, Name) { OnMessage = static (_, _) => { } };
        var witness = new StateByHand(_cluster, 2, Name);
        Open(3);
        silent.Set("UAL", "1", 1);
        witness.Set("DAL", "1", 1);
        _cluster.Run(Second);
        Assert.Equal(["UAL"], Forwarded());
        Assert.True(state.TryGet("UAL", out _) && state.TryGet("DAL", out _));

        // The one that joined last asks once more, after 2 s, because a member is a stranger to it.
        _cluster.Run(TimeSpan.FromSeconds(65));
        silent.Set("AAL", "1", 2);
        _cluster.Run(Second);
        Assert.True(state.TryGet("AAL", out _));
        Assert.Equal(["UAL"], Forwarded());

        string[] Forwarded() =>
        [
            .. witness.Received.Where(one => one.Message.Entry is { } entry && entry.Stamp.Origin == silent.Id && one.Sender != silent.Id)
                .Select(static one => one.Message.Entry!.Key).Distinct(),
        ];
    }

    private StateByHand Lies(int number, Lie lie, bool isComplete)
    {
        var liar = new StateByHand(_cluster, number, Name);
        foreach (var node in _cluster.Nodes.Where(node => node.Number != number))
        {
            liar.OpenLettersTo(node.Node.Id);
        }

        liar.OnMessage = (sender, message) => Answer(liar, sender, message, lie, isComplete, end: 17);
        return liar;
    }

    private void Answer(
        StateByHand liar, NodeId sender, StateMessage<string, string> message, Lie lie, bool isComplete, int end)
    {
        if (message.Kind == StateMessageKind.Hello)
        {
            _boxes[(sender, message.Number)] = message.Box;
            liar.Mark(sender, message.Number, isComplete);
        }
        else if (message.Kind == StateMessageKind.Ask && message.Node == liar.Id)
        {
            _asks++;
            Give(liar, sender, _boxes[(sender, message.Number)], message.Number, lie, end);
        }
    }

    private void Give(StateByHand liar, NodeId to, int box, long number, Lie lie, int end)
    {
        switch (lie)
        {
            case Lie.Busy:
                liar.SendLetterTo(to, box, number, StateLetterKind.Busy, []);
                break;
            case Lie.Unreadable:
                liar.SendLetterTo(to, box, number, StateLetterKind.Piece, [0xFF, 0xFF]);
                break;
            case Lie.WrongEnd:
                liar.SendLetterTo(to, box, number, StateLetterKind.End, BitConverter.GetBytes(end));
                break;
            case Lie.EmptyPieces or Lie.TheSameAgain or Lie.NewKeysWithoutEnd:
                _ = PiecesAsync(liar, to, box, number, lie);
                break;
        }
    }

    // Ends with the cluster.
    private async Task PiecesAsync(StateByHand liar, NodeId to, int box, long number, Lie lie)
    {
        for (int i = 1; ; i++)
        {
            await Task.Delay(Second / 2, _cluster.Time);
            var entry = lie == Lie.NewKeysWithoutEnd ? liar.Entry($"{i}", "made up", i) : liar.Entry("1", "made up", 1);
            liar.SendLetterTo(to, box, number, StateLetterKind.Piece, lie == Lie.EmptyPieces ? [] : StateByHand.BytesOf(entry));
        }
    }

    private void AllOpen(int liar, TimeSpan limit)
    {
        var openings = Order().Where(number => number != liar).Select(OpenLater).ToList();
        foreach (var opening in openings)
        {
            Assert.True(_cluster.RunUntilCompleted(opening, limit).IsComplete);
        }

        Assert.True(_asks >= 3);
    }

    private IEnumerable<int> Order() => Enumerable.Range(0, 5).OrderBy(number => _cluster.Nodes[number].Node.Id.Id);

    private int Highest() => Order().Last();

    private Task<IState<string, string>> OpenLater(int number)
    {
        var opened = new TaskCompletionSource<IState<string, string>>();
        _cluster.Nodes[number].Post(async () => opened.SetResult(await _cluster.Nodes[number].Node.OpenStateAsync<string, string>(Name)));
        return opened.Task;
    }

    private IState<string, string> Open(int number) => _cluster.RunUntilCompleted(OpenLater(number), TimeSpan.FromMinutes(3));

    private void Set(IState<string, string> state, string key, string value) =>
        _cluster.RunUntilCompleted(() => state.SetAsync(key, value).AsTask());
}
