using System.Text;
using QuickSilver.Serialization;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Simulation.Tests.Clusters.States;

// Values of a state that a node cannot decode, or for which it has no memory: it says so, and does not take itself for complete.
public sealed class StateUndecodableTests : IDisposable
{
    private const string Name = "prices";
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private readonly RecordingLogs _logs = new();
    private readonly SimulatedCluster _cluster;
    private readonly Picky[] _values = [new Picky(), new Picky(), new Picky()];
    private readonly IState<string, string>?[] _states = new IState<string, string>?[3];

    public StateUndecodableTests()
    {
        _cluster = new SimulatedCluster(new SimulationOptions { Nodes = 3, Seed = 12, LoggerFactory = _logs });
        _cluster.Start();
    }

    public void Dispose() => _cluster.Dispose();

    public enum End
    {
        Replaced,
        ReplacedByItself,
        Removed,
        Decoded,
        Closed,
    }

    [Theory]
    [InlineData(End.Replaced)]
    [InlineData(End.ReplacedByItself)]
    [InlineData(End.Removed)]
    [InlineData(End.Decoded)]
    [InlineData(End.Closed)]
    public void A_change_that_a_member_cannot_decode_makes_it_incomplete_until_no_node_has_it_or_it_is_decoded(End end)
    {
        Open(0, 1, 2);
        Set(0, "r", "old");
        _values[1].Refuses = "bad";
        Set(0, "r", "bad");
        Set(0, "s", "bad");
        _cluster.Run(Second);
        AssertLacks(1, from: 0);
        Assert.Equal((true, true), (_states[0]!.IsComplete, _states[2]!.IsComplete));
        Assert.All((int[])[0, 2], node => Assert.Empty(_cluster.Nodes[node].Node.Status.Reasons));

        // Retries grow apart, and what can be decoded comes all the same.
        _cluster.Run(Second * 10);
        int reads = _values[1].Refused;
        _cluster.Run(Second * 60);
        AssertLacks(1, from: 0);
        Assert.InRange(_values[1].Refused - reads, 2 * 10, 2 * 15);
        Set(2, "t", "good");
        _cluster.Eventually("it comes", () => _states[1]!.TryGet("t", out _));

        switch (end)
        {
            case End.Replaced:
                Set(2, "r", "good");
                Set(0, "s", "good");
                break;
            case End.ReplacedByItself:
                Set(1, "r", "good");
                Set(1, "s", "good");
                break;
            case End.Removed:
                Remove("r");
                Remove("s");
                break;
            case End.Decoded:
                _values[1].Refuses = null;
                break;
            case End.Closed:
                // Those that have the value leave.
                Close(0);
                Close(2);
                break;
        }

        _cluster.Eventually("it is complete", () => _states[1]!.IsComplete, Second * 30);
        _cluster.Run(Second);
        Assert.Empty(_cluster.Nodes[1].Node.Status.Reasons);
        if (end == End.Closed)
        {
            Assert.Equal([new("r", "old"), new("t", "good")], _states[1]!.GetSnapshot());
        }
        else
        {
            Assert.Equal(_states[0]!.GetSnapshot(), _states[1]!.GetSnapshot());
        }
    }

    [Fact]
    public void Changes_that_cannot_be_decoded_do_not_keep_a_member_from_what_was_lost()
    {
        Open(0, 1);
        _values[1].Refuses = "lost";
        Set(0, "t", "lost");
        _cluster.Eventually("it is lost", () => _values[1].Refused > 0);
        _values[1].Refuses = "bad";
        // They come faster than the node can take all that the other one has.
        for (int i = 0; i < 2000; i++)
        {
            Set(0, "s", "bad");
            _cluster.Run(Second / 1000);
        }

        Assert.True(_states[1]!.TryGet("t", out _));
        AssertLacks(1, from: 0);
        Set(0, "s", "good");
        _cluster.Eventually("it is complete", () => _states[1]!.IsComplete, Second * 30);
        Assert.Equal(_states[0]!.GetSnapshot(), _states[1]!.GetSnapshot());
    }

    // Neither is complete, and neither gives up the other one, so neither takes itself for complete.
    [Fact]
    public void Two_members_that_cannot_decode_what_the_other_one_has_set_are_both_incomplete()
    {
        Open(0, 1);
        _values[0].Refuses = "of 1";
        _values[1].Refuses = "of 0";
        Set(0, "0", "of 0");
        Set(1, "1", "of 1");
        _cluster.Run(Second);
        for (int i = 0; i < 300; i++)
        {
            Assert.Equal((false, false), (_states[0]!.IsComplete, _states[1]!.IsComplete));
            _cluster.Run(Second);
        }

        AssertLacks(0, from: 1);
        AssertLacks(1, from: 0);
        Set(0, "1", "good");
        Set(1, "0", "good");
        _cluster.Eventually("both are complete", () => _states[0]!.IsComplete && _states[1]!.IsComplete, Second * 30);
        Assert.Equal(_states[0]!.GetSnapshot(), _states[1]!.GetSnapshot());
    }

    [Fact]
    public void A_joiner_that_cannot_decode_a_value_names_it_all_the_time_and_joins_when_it_is_replaced()
    {
        Open(0);
        Set(0, "a", "bad");
        Set(0, "b", "good");
        _values[1].Refuses = "bad";
        var opening = Opening(1);
        string named = $"node node-0 ({_cluster.Nodes[0].Node.Id}) ";
        _cluster.Eventually("it is named", () => _cluster.Nodes[1].Node.Status.Reasons.Count > 0);
        for (int i = 0; i < 1500; i++)
        {
            var reason = Assert.Single(_cluster.Nodes[1].Node.Status.Reasons);
            Assert.Equal(StatusReasonKind.StateUndecodable, reason.Kind);
            Assert.Contains(named + "gave what this node cannot decode.", reason.Description, StringComparison.Ordinal);
            _cluster.Run(Second / 100);
        }

        var said = Assert.Single(_logs.Entries, static entry => entry.Id == 1634);
        Assert.Contains(named + "gave what this node cannot decode.", said.Text, StringComparison.Ordinal);
        Assert.Matches(" It has needed it for 5\\.0 s\\.$", said.Text);
        Set(0, "a", "good");
        Assert.Equal(2, _cluster.RunUntilCompleted(opening, Second * 30).Count);
        _cluster.Run(Second);
        Assert.Empty(_cluster.Nodes[1].Node.Status.Reasons);
    }

    [Fact]
    public void A_node_that_cannot_decode_all_of_many_values_tries_no_more_than_some_of_them_at_a_time()
    {
        Open(0);
        for (int i = 0; i < 500; i++)
        {
            Set(0, $"{i}", "bad");
        }

        _values[1].Refuses = "bad";
        _ = Opening(1);
        _cluster.Run(Second * 60);
        Assert.InRange(_values[1].Refused, 64 * 10, 64 * 25);
    }

    // Each time costs the network all of it.
    [Fact]
    public void A_long_transfer_that_cannot_be_decoded_is_asked_for_rarely()
    {
        Open(0, 1);
        string large = new('x', 20_000);
        for (int i = 0; i < 200; i++)
        {
            Set(0, $"{i}", large);
        }

        // All of it takes a second.
        _cluster.Nodes[0].Model = new NodeModel { SendBytesPerSecond = 4_000_000 };
        _values[1].Refuses = "bad";
        Set(0, "r", "bad");
        _cluster.Run(Second * 60);
        int reads = _values[1].Refused;
        _cluster.Run(Second * 300);
        Assert.InRange(_values[1].Refused - reads, 8, 16);
        AssertLacks(1, from: 0);
    }

    [Fact]
    public void A_joiner_without_memory_for_what_is_given_blames_no_other_node_and_tries_again_later()
    {
        Open(0);
        Set(0, "a", "good");
        Set(0, "b", "large");
        _values[1].NoMemoryFor = "large";
        var opening = Opening(1);
        string given = $"node node-0 ({_cluster.Nodes[0].Node.Id}) gave what the heap of this process has no memory for.";
        _cluster.Eventually("it is named", () => _cluster.Nodes[1].Node.Status.Reasons.Count > 0);
        for (int i = 0; i < 600; i++)
        {
            var reason = Assert.Single(_cluster.Nodes[1].Node.Status.Reasons);
            Assert.Equal((StatusReasonKind.HeapFull, "memory of the heap"), (reason.Kind, reason.WaitsFor));
            Assert.Contains($"State \"{Name}\"", reason.Description, StringComparison.Ordinal);
            Assert.Contains(given, reason.Description, StringComparison.Ordinal);
            Assert.Contains("DOTNET_GCHeapHardLimit", reason.Remedy, StringComparison.Ordinal);
            _cluster.Run(Second / 10);
        }

        Assert.InRange(_values[1].Refused, 10, 25);
        Assert.Contains(_logs.Entries, static entry => entry.Id == 1637 && entry.Exception is OutOfMemoryException);
        Assert.DoesNotContain(_logs.Entries, static entry => entry.Id == 1626);
        _values[1].NoMemoryFor = null;
        Assert.Equal(2, _cluster.RunUntilCompleted(opening, Second * 30).Count);
        _cluster.Run(Second);
        Assert.Empty(_cluster.Nodes[1].Node.Status.Reasons);
    }

    // The change is taken from the topic and is not in the table then.
    [Fact]
    public void A_change_on_which_the_table_throws_is_asked_for_again()
    {
        var keys = new Keys[] { new(), new() };
        var states = keys.Select((codec, node) => _cluster.RunUntilCompleted(
            _cluster.Nodes[node].Node.OpenStateAsync<Key, string>(
                Name, new StateOptions<Key, string> { KeyCodec = codec, ValueCodec = new Picky() }))).ToArray();
        keys[1].Fails = true;
        _cluster.RunUntilCompleted(async () => await states[0].SetAsync(new Key("a", keys[0]), "good"));
        _cluster.Eventually("it is not complete", () => !states[1].IsComplete);
        keys[1].Fails = false;
        _cluster.Eventually("it is complete", () => states[1].IsComplete);
        Assert.Equal("good", Assert.Single(states[1].GetSnapshot()).Value);
    }

    private void AssertLacks(int node, int from)
    {
        Assert.False(_states[node]!.IsComplete);
        var reason = Assert.Single(_cluster.Nodes[node].Node.Status.Reasons);
        Assert.Equal(StatusReasonKind.StateUndecodable, reason.Kind);
        Assert.Contains($"State \"{Name}\" ", reason.Description, StringComparison.Ordinal);
        string of = $"node node-{from} ({_cluster.Nodes[from].Node.Id})";
        Assert.Contains($" This node cannot decode a value from {of}.", reason.Description, StringComparison.Ordinal);
        Assert.Contains("same type and codec on all nodes", reason.Remedy, StringComparison.Ordinal);
    }

    private void Open(params ReadOnlySpan<int> nodes)
    {
        foreach (int node in nodes)
        {
            _states[node] = _cluster.RunUntilCompleted(Opening(node));
        }
    }

    private Task<IState<string, string>> Opening(int node)
    {
        var opened = new TaskCompletionSource<IState<string, string>>();
        _cluster.Nodes[node].Post(async () =>
            opened.SetResult(await _cluster.Nodes[node].Node.OpenStateAsync<string, string>(
                Name, new StateOptions<string, string> { KeyCodec = new Picky(), ValueCodec = _values[node] })));
        return opened.Task;
    }

    private void Close(int node) => _cluster.RunUntilCompleted(async () => await _states[node]!.DisposeAsync());

    private void Set(int node, string key, string value) =>
        _cluster.RunUntilCompleted(async () => await _states[node]!.SetAsync(key, value));

    private void Remove(string key) => _cluster.RunUntilCompleted(async () => await _states[0]!.RemoveAsync(key));

    // Without memory, a table throws as well.
    private sealed class Key(string name, Keys keys) : IEquatable<Key>
    {
        public string Name => name;

        public bool Equals(Key? other) => other?.Name == name;

        public override bool Equals(object? obj) => Equals(obj as Key);

        public override int GetHashCode() =>
            keys.Fails ? throw new OutOfMemoryException("a test") : name.GetHashCode(StringComparison.Ordinal);
    }

    private sealed class Keys : IPayloadCodec<Key>
    {
        private readonly Picky _words = new();

        public bool Fails { get; set; }

        public PayloadSchema Schema => _words.Schema;

        public int GetSize(in Key value) => _words.GetSize(value.Name);

        public int Write(in Key value, Span<byte> destination) => _words.Write(value.Name, destination);

        public Key Read(ReadOnlySpan<byte> source) => new(_words.Read(source), this);
    }

    // Words in UTF-8, of which it does not read some.
    private sealed class Picky : IPayloadCodec<string>
    {
        public string? Refuses { get; set; }

        public string? NoMemoryFor { get; set; }

        /// <summary>How often it did not read.</summary>
        public int Refused { get; private set; }

        public PayloadSchema Schema { get; } = new("string", PayloadSchema.StringKind, []);

        public int GetSize(in string value) => Encoding.UTF8.GetByteCount(value);

        public int Write(in string value, Span<byte> destination) => Encoding.UTF8.GetBytes(value, destination);

        public string Read(ReadOnlySpan<byte> source)
        {
            string value = Encoding.UTF8.GetString(source);
            if (value == Refuses || value == NoMemoryFor)
            {
                Refused++;
                throw value == Refuses ? new FormatException("a test") : new OutOfMemoryException("a test");
            }

            return value;
        }
    }
}
