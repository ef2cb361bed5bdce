using System.Net;
using QuickSilver.Membership.Protocol.Replies;

namespace QuickSilver.Membership.Tests.Infrastructure;

// Virtual time, one thread, one order: everything that happens is an event with a time and a turn.
internal sealed class FakeWorld
{
    public static readonly TimeSpan Latency = TimeSpan.FromMicroseconds(200);

    private readonly PriorityQueue<Action, (TimeSpan Due, long Turn)> _events = new();
    private readonly List<FakeEnvironment> _nodes = [];
    private long _turn;

    public TimeSpan Now { get; private set; }

    public bool IdentitiesAreShared { get; set; }

    public DateTimeOffset UtcNow => new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero) + Now;

    public IReadOnlyList<FakeEnvironment> Nodes => _nodes;

    /// <summary>What the nodes share of what they know of the cluster.</summary>
    public ConfigurationCache Configurations { get; } = new();

    public Dictionary<IPEndPoint, FakeListener> Listeners { get; } = [];

    public List<FakePort> Ports { get; } = [];

    // Pairs of environments that do not hear each other.
    public Func<FakeEnvironment, FakeEnvironment, bool> IsBlocked { get; set; } = (_, _) => false;

    // The same for streams alone: datagrams pass.
    public Func<FakeEnvironment, FakeEnvironment, bool> IsStreamBlocked { get; set; } = (_, _) => false;

    // Bytes of a stream that their receiver skips.
    public Func<byte[], bool> IsSkipped { get; set; } = _ => false;

    public FakeEnvironment AddNode(ulong seed)
    {
        var node = new FakeEnvironment(this, new IPAddress([10, 0, 0, (byte)(_nodes.Count + 1)]), seed);
        _nodes.Add(node);
        return node;
    }

    public void After(TimeSpan delay, Action action) => _events.Enqueue(action, (Now + delay, _turn++));

    public void Run(TimeSpan duration)
    {
        var end = Now + duration;
        while (_events.TryPeek(out _, out var next) && next.Due <= end)
        {
            Step();
        }

        Now = end;
    }

    /// <summary>Runs until the condition holds; fails when it does not within the limit of virtual time.</summary>
    public void RunUntil(Func<bool> condition, double limitSeconds = 30)
    {
        var end = Now + TimeSpan.FromSeconds(limitSeconds);
        while (!condition())
        {
            if (!_events.TryPeek(out _, out var next) || next.Due > end)
            {
                Assert.Fail($"The condition does not hold after {limitSeconds} s of virtual time.");
            }

            Step();
        }
    }

    private void Step()
    {
        _events.TryDequeue(out var action, out var at);
        Now = at.Due;
        action!();
    }
}
