using QuickSilver.Simulation.Tests.Infrastructure;
using QuickSilver.States;
using QuickSilver.States.Joining;

namespace QuickSilver.Simulation.Tests.Clusters.States;

// Numbers of changes that a member makes up. The others continue, and keep the same values.
public sealed class StateNumberTests : IDisposable
{
    private const string Name = "prices";
    private const int Liar = 2;
    private const int Late = 3;
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private readonly SimulatedCluster _cluster = new(nodes: 5, seed: 11);
    private readonly List<IState<string, string>> _states = [];

    public StateNumberTests()
    {
        _cluster.Start();
        _states.Add(Open(0));
        _states.Add(Open(1));
        Set(_states[0], "UAL", "1");
        Set(_states[1], "DAL", "1");
    }

    public void Dispose() => _cluster.Dispose();

    [Theory]
    [InlineData(StateStamp.MaxCounter)]
    [InlineData(StateStamp.MaxCounter - 1)]
    [InlineData(StateStamp.MaxCounter / 2)]
    [InlineData(StateClock.First * 2)]
    public void A_number_that_cannot_have_been_counted_is_refused_and_all_continue(long lie)
    {
        var liar = new StateByHand(_cluster, Liar, Name);
        liar.Set("x", "a lie", lie);
        _cluster.Run(Second);
        Assert.All(_states, static state => Assert.False(state.TryGet("x", out _)));
        for (int node = 0; node < 2; node++)
        {
            var reason = Assert.Single(_cluster.Nodes[node].Node.Status.Reasons);
            Assert.Equal(StatusReasonKind.StateChangeRefused, reason.Kind);
            Assert.Contains($"State \"{Name}\" refused a change of node ", reason.Description, StringComparison.Ordinal);
            Assert.Contains($"{liar.Id}", reason.Description, StringComparison.Ordinal);
            Assert.True(_cluster.Nodes[node].Node.Status.IsReady);
        }

        AllGoOn();
        _cluster.Run(StateRefusals.Named);
        Assert.Empty(_cluster.Nodes[0].Node.Status.Reasons);
    }

    // The highest numbers that are taken, and again as time goes by.
    [Fact]
    public void Numbers_at_the_limit_do_not_stop_the_state_or_one_that_opens_it_later()
    {
        _cluster.Run(Second * 30);
        var liar = new StateByHand(_cluster, Liar, Name);
        for (int i = 0; i < 5; i++)
        {
            liar.Set("x", $"raised {i}", StateClock.First + (StateClock.PerSecond * (25 + i)));
            liar.Set("y", $"above {i}", StateClock.First + StateClock.Margin + i);
            _cluster.Run(Second);
        }

        AllGoOn();
        Set(_states[0], "y", "again");
        _cluster.Run(Second);
        Assert.All(_states, static state => Assert.True(state.TryGet("y", out string? value) && value == "again"));
        Assert.All(_cluster.Nodes, static node => Assert.Empty(node.Node.Status.Reasons));
    }

    [Fact]
    public void A_node_that_opens_it_takes_the_limit_of_the_others()
    {
        // So long that what is taken after it is above the limit of a state that begins now.
        var age = TimeSpan.FromHours(19);
        _cluster.Run(age);
        var liar = new StateByHand(_cluster, Liar, Name);
        liar.Set("x", "at the limit", StateClock.First + (StateClock.PerSecond * (long)age.TotalSeconds));
        _cluster.Run(Second);
        liar.OnMessage = (sender, message) =>
        {
            if (message.Kind == StateMessageKind.Hello)
            {
                liar.Mark(sender, message.Number, isComplete: false, age: int.MaxValue);
            }
        };
        AllGoOn();
        Assert.All(_cluster.Nodes, static node => Assert.Empty(node.Node.Status.Reasons));

        // An age that one member makes up has no effect.
        liar.Set("z", "beyond", StateClock.First + (StateClock.PerSecond * (long)age.TotalSeconds) + (StateClock.Margin * 2));
        _cluster.Run(Second);
        Assert.All(_states, static state => Assert.False(state.TryGet("z", out _)));
        AllHaveTheSame();
    }

    [Fact]
    public void A_piece_with_such_a_number_is_taken_without_it_and_its_giver_is_named()
    {
        using var cluster = new SimulatedCluster(nodes: 3, seed: 11);
        cluster.Start();
        var liar = new StateByHand(cluster, 0, Name);
        liar.OpenLettersTo(cluster.Nodes[1].Node.Id);
        var boxes = new Dictionary<long, int>();
        liar.OnMessage = (sender, message) =>
        {
            if (message.Kind == StateMessageKind.Hello)
            {
                boxes[message.Number] = message.Box;
                liar.Mark(sender, message.Number, isComplete: true);
            }
            else if (message.Kind == StateMessageKind.Ask && message.Node == liar.Id)
            {
                int box = boxes[message.Number];
                liar.SendPiece(
                    box, message.Number, liar.Entry("a", "1", 1), liar.Entry("b", "a lie", StateStamp.MaxCounter), liar.Entry("c", "1", 2));
                liar.SendEnd(box, message.Number, 3);
            }
        };
        var state = cluster.RunUntilCompleted(cluster.Nodes[1].Node.OpenStateAsync<string, string>(Name));
        Assert.Equal(["a", "c"], state.GetSnapshot().Select(static one => one.Key));
        var reason = Assert.Single(cluster.Nodes[1].Node.Status.Reasons, static one => one.Kind == StatusReasonKind.StateChangeRefused);
        Assert.Contains($"{liar.Id}", reason.Description, StringComparison.Ordinal);
    }

    [Fact]
    public void An_unreadable_state_is_asked_for_and_logged_at_growing_intervals()
    {
        using var cluster = new SimulatedCluster(nodes: 2, seed: 11);
        cluster.Start();
        var liar = new StateByHand(cluster, 0, Name);
        liar.OpenLettersTo(cluster.Nodes[1].Node.Id);
        var boxes = new Dictionary<long, int>();
        liar.OnMessage = (sender, message) =>
        {
            if (message.Kind == StateMessageKind.Hello)
            {
                boxes[message.Number] = message.Box;
                liar.Mark(sender, message.Number, isComplete: true);
            }
            else if (message.Kind == StateMessageKind.Ask && message.Node == liar.Id)
            {
                liar.SendLetter(boxes[message.Number], message.Number, StateLetterKind.Piece, [0xFF, 0xFF]);
            }
        };
        cluster.Nodes[1].Post(() => cluster.Nodes[1].Node.OpenStateAsync<string, string>(Name));
        cluster.Run(Second * 60);
        int first = boxes.Count;
        cluster.Run(Second * 60);
        Assert.InRange(first, 10, 24);
        Assert.InRange(boxes.Count - first, 10, 13);
    }

    // All set, and one that opens it now has it all.
    private void AllGoOn()
    {
        Set(_states[0], "UAL", "2");
        Set(_states[1], "DAL", "2");
        Set(_states[0], "NEW", "a");
        _cluster.Run(Second);
        _states.Add(Open(Late));
        _states.Add(Open(Late + 1));
        Set(_states[^1], "UAL", "3");
        Set(_states[^2], "LATE", "b");
        _cluster.Run(Second);
        AllHaveTheSame();
        foreach (var (key, value) in (ReadOnlySpan<(string, string)>)[("UAL", "3"), ("DAL", "2"), ("NEW", "a"), ("LATE", "b")])
        {
            Assert.True(_states[0].TryGet(key, out string? last));
            Assert.Equal(value, last);
        }
    }

    private void AllHaveTheSame()
    {
        var expected = _states[0].GetSnapshot().OrderBy(static one => one.Key, StringComparer.Ordinal);
        Assert.All(_states, state => Assert.Equal(expected, state.GetSnapshot().OrderBy(static one => one.Key, StringComparer.Ordinal)));
        Assert.All(_states, static state => Assert.True(state.IsComplete));
    }

    private IState<string, string> Open(int node) =>
        _cluster.RunUntilCompleted(_cluster.Nodes[node].Node.OpenStateAsync<string, string>(Name));

    private void Set(IState<string, string> state, string key, string value) =>
        _cluster.RunUntilCompleted(() => state.SetAsync(key, value).AsTask());
}
