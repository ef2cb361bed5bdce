using System.Text;
using QuickSilver.Serialization;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Simulation.Tests.Clusters.States;

// Changes of a state that cannot be sent: the node that makes one has no other content than the others afterwards.
public sealed class StateRefusalTests : IDisposable
{
    private const string Name = "prices";
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private readonly RecordingLogs _logs = new();
    private readonly SimulatedCluster _cluster;
    private readonly Fussy[] _keys = [new Fussy(), new Fussy(), new Fussy()];
    private readonly Fussy[] _values = [new Fussy(), new Fussy(), new Fussy()];
    private readonly List<IState<string, string>> _states = [];

    public StateRefusalTests() =>
        _cluster = new SimulatedCluster(new SimulationOptions { Nodes = 3, Seed = 11, LoggerFactory = _logs });

    public void Dispose() => _cluster.Dispose();

    [Fact]
    public void A_change_that_a_codec_refuses_to_write_is_made_nowhere()
    {
        Start(2);
        var changes = new List<StateChange<string, string>>();
        _cluster.Nodes[0].Post(async () =>
        {
            await foreach (var change in _states[0].WatchChangesAsync())
            {
                changes.Add(change);
            }
        });
        Set(0, "known", "before");
        _cluster.Run(Second);
        _values[0].Refuses = "refused";
        Assert.Throws<OutOfMemoryException>(() => { _ = _states[0].SetAsync("known", "refused"); });
        Assert.Throws<OutOfMemoryException>(() => { _ = _states[0].SetAsync("new", "refused"); });
        _cluster.Run(Second);

        Assert.All(_states, static state => Assert.Equal([new("known", "before")], state.GetSnapshot()));
        Assert.All(_states, static state => Assert.Equal(1, state.Count));
        // One that reads slowly gets only the last of each key.
        Assert.Equal("before", changes.FindLast(static change => change.Key == "known").Value);
        Assert.True(changes.TrueForAll(static change => change.Key == "known") || changes.FindLast(static c => c.Key == "new").IsRemoved);

        Set(0, "new", "after");
        Set(1, "known", "after");
        AssertSame([new("known", "after"), new("new", "after")]);
        Join(2);
        AssertSame([new("known", "after"), new("new", "after")]);
    }

    [Fact]
    public void A_removal_that_cannot_be_sent_leaves_the_key()
    {
        Start(2);
        Set(0, "known", "before");
        _cluster.Run(Second);
        _keys[0].Refuses = "known";
        var removing = _states[0].RemoveAsync("known").AsTask();
        Assert.IsType<OutOfMemoryException>(removing.Exception?.InnerException);
        Assert.True(_states[0].TryGet("known", out _));
        AssertSame([new("known", "before")]);
        Assert.All(_states, static state => Assert.Equal(1, state.Count));

        _keys[0].Refuses = null;
        Assert.True(_cluster.RunUntilCompleted(_states[0].RemoveAsync("known").AsTask()));
        AssertSame([]);
    }

    [Fact]
    public void A_change_that_cannot_be_sent_does_not_keep_out_the_first_one_of_another_node()
    {
        Start(2);
        int higher = _cluster.Nodes[0].Node.Id.Id > _cluster.Nodes[1].Node.Id.Id ? 0 : 1;
        _values[higher].Refuses = "refused";
        Assert.Throws<OutOfMemoryException>(() => { _ = _states[higher].SetAsync("known", "refused"); });
        Set(1 - higher, "known", "first");
        AssertSame([new("known", "first")]);
    }

    [Fact]
    public void A_joiner_gets_what_nodes_cannot_write_as_soon_as_they_can()
    {
        Start(2);
        Set(0, "a", "1");
        Set(1, "b", "unwritable");
        _cluster.Run(Second);
        _values[0].Refuses = _values[1].Refuses = "unwritable";
        var opening = _cluster.Nodes[2].Node.OpenStateAsync<string, string>(Name, OptionsOf(2));
        _cluster.Run(Second * 8);
        Assert.False(opening.IsCompleted);
        var said = _logs.Entries.First(static entry => entry.Id == 1635);
        Assert.Contains($"State \"{Name}\"", said.Text);

        _values[1].Refuses = null;
        _states.Add(_cluster.RunUntilCompleted(opening));
        AssertSame([new("a", "1"), new("b", "unwritable")]);
    }

    [Fact]
    public void A_change_that_cannot_be_sent_does_not_keep_out_an_older_one_of_another_node()
    {
        Start(2);
        Set(0, "other", "1");
        _cluster.Run(Second);
        // Of two stamps with one number, that of the node with the higher identity is above the other.
        int higher = _cluster.Nodes[0].Node.Id.Id > _cluster.Nodes[1].Node.Id.Id ? 0 : 1;
        _values[higher].Refuses = "refused";
        _values[higher].Refused = () => _cluster.Run(Second);
        Assert.Throws<OutOfMemoryException>(() =>
        {
            _ = _states[1 - higher].SetAsync("known", "of the other node");
            _ = _states[higher].SetAsync("known", "refused");
        });
        Assert.False(_states[higher].TryGet("known", out _));
        _cluster.Eventually("all have the other node's", () => _states.TrueForAll(static state =>
            state.IsComplete && state.TryGet("known", out string? value) && value == "of the other node"));
    }

    private void Start(int nodes)
    {
        _cluster.Start();
        for (int i = 0; i < nodes; i++)
        {
            Join(i);
        }
    }

    private StateOptions<string, string> OptionsOf(int node) => new() { KeyCodec = _keys[node], ValueCodec = _values[node] };

    private void Join(int node) => _states.Add(_cluster.RunUntilCompleted(
        _cluster.Nodes[node].Node.OpenStateAsync<string, string>(Name, OptionsOf(node))));

    private void Set(int node, string key, string value) =>
        _cluster.RunUntilCompleted(async () => await _states[node].SetAsync(key, value));

    private void AssertSame(List<KeyValuePair<string, string>> expected)
    {
        _cluster.Run(Second);
        Assert.All(_states, state => Assert.Equal(expected, state.GetSnapshot().OrderBy(static one => one.Key)));
    }

    // Words in UTF-8, and no memory for some of them.
    private sealed class Fussy : IPayloadCodec<string>
    {
        public string? Refuses { get; set; }

        /// <summary>Called before it throws.</summary>
        public Action? Refused { get; set; }

        public PayloadSchema Schema { get; } = new("string", PayloadSchema.StringKind, []);

        public int GetSize(in string value) => Encoding.UTF8.GetByteCount(value);

        public int Write(in string value, Span<byte> destination)
        {
            if (value == Refuses)
            {
                Refused?.Invoke();
                throw new OutOfMemoryException("a test");
            }

            return Encoding.UTF8.GetBytes(value, destination);
        }

        public string Read(ReadOnlySpan<byte> source) => Encoding.UTF8.GetString(source);
    }
}
