using QuickSilver.Simulation.Machines;
using QuickSilver.Simulation.Machines.Time;

namespace QuickSilver.Seeds.Tests.Infrastructure.Courses;

// How the subscribers of one life of a node take their messages: by a handler that does nothing else; or where the cluster has odd
// ones, drawn for each: by a handler that throws from time to time, by one that blocks the core thread, or by a reader that takes
// its time (F7). Once the faults are over they all behave.
internal sealed class OddSubscribers
{
    private const double OddShare = 0.05;

    private static readonly TimeSpan LongestBlock = TimeSpan.FromMilliseconds(40);
    private static readonly TimeSpan LongestThought = TimeSpan.FromMilliseconds(80);

    private static readonly TimeSpan Nap = TimeSpan.FromMilliseconds(200);

    private readonly WholeCluster _cluster;
    private readonly SimulatedEnvironment _life;
    private readonly SeededRandom _random;
    private readonly ProcessContext _context;
    private readonly VirtualTimeProvider _time;

    public OddSubscribers(WholeCluster cluster, SimulatedEnvironment life)
    {
        _cluster = cluster;
        _life = life;
        var machine = life.Node;
        ulong which = ((ulong)(uint)machine.Number << 32) | (uint)machine.Lives;
        _random = SeededRandom.Derive(cluster.Seed, purpose: 22, which);
        _context = new ProcessContext(life, cluster.Escapes);
        _time = new VirtualTimeProvider(life);
    }

    private bool IsOddNow => _cluster.AreSubscribersOdd && _random.Chance(OddShare);

    public void Attach(ITopicSubscriber<ReadOnlyMemory<byte>> topic, MessageHandler<ReadOnlyMemory<byte>> record, Action<GapNotice> gap)
    {
        if (_cluster.IsSleeper(_life.Node, topic.Name))
        {
            _context.Post(_ => _cluster.Watch(SleepAsync(topic, record, gap)), null);
            return;
        }

        switch (_cluster.Setup.HasOddSubscribers ? _random.Below(4) : 0)
        {
            case 0:
                topic.SubscribeInline(record, gap);
                break;
            case 1:
                topic.SubscribeInline((in message) =>
                {
                    record(message);
                    if (IsOddNow)
                    {
                        throw new InvalidOperationException("A handler may throw.");
                    }
                }, gap);
                break;
            case 2:
                topic.SubscribeInline((in message) =>
                {
                    record(message);
                    _life.Spend(IsOddNow ? _random.UpTo(LongestBlock) : TimeSpan.Zero);
                }, gap);
                break;
            default:
                _context.Post(_ => _cluster.Watch(ReadAsync(topic, record, gap)), null);
                break;
        }
    }

    // A reader that stops reading while it is in the middle of it (F24), and comes back.
    private async Task SleepAsync(
        ITopicSubscriber<ReadOnlyMemory<byte>> topic, MessageHandler<ReadOnlyMemory<byte>> record, Action<GapNotice> gap)
    {
        try
        {
            await foreach (var message in topic.ReadAllAsync(onGap: gap))
            {
                record(message);
                while (_cluster.AreReadersAsleep)
                {
                    await Task.Delay(Nap, _time);
                }
            }
        }
        catch (Exception exception) when (exception is NodeExpelledException or ObjectDisposedException)
        {
            // As below.
        }
    }

    private async Task ReadAsync(
        ITopicSubscriber<ReadOnlyMemory<byte>> topic, MessageHandler<ReadOnlyMemory<byte>> record, Action<GapNotice> gap)
    {
        try
        {
            await foreach (var message in topic.ReadAllAsync(onGap: gap))
            {
                record(message);
                if (IsOddNow)
                {
                    await Task.Delay(_random.UpTo(LongestThought), _time);
                }
            }
        }
        catch (Exception exception) when (exception is NodeExpelledException or ObjectDisposedException)
        {
            // The node is gone, or the topic was closed before the first message.
        }
    }
}
