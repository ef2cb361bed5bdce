using System.Buffers.Binary;
using QuickSilver.Endpoints;
using QuickSilver.Multicast;
using QuickSilver.Multicast.Stability;

namespace QuickSilver.Simulation.Experiments;

// Whole nodes: the first publishes to all topics in turn, all others subscribe to all of them. What is measured is measured
// between two points of virtual time; then the sender stops, and all that was published has to arrive.
internal sealed class LoadRun : IDisposable
{
    private const int StampBytes = sizeof(long);

    private static readonly TimeSpan Sample = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan CatchUpLimit = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan SleepInterval = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan SleepLength = TimeSpan.FromSeconds(0.5);
    private static readonly TimeSpan BurstInterval = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan BurstLength = TimeSpan.FromMilliseconds(10);

    private readonly LoadPlan _plan;
    private readonly SimulatedCluster _cluster;
    private readonly long[] _delivered;
    private long _deliveredToAll;
    private readonly byte[] _payload;
    private readonly List<TopicEndpoint<ReadOnlyMemory<byte>>> _topics = [];
    private readonly RepairCollector _repair = new();
    private double _roundTripSum;
    private double _worstRoundTrip;
    private long _roundTrips;
    private double _pendingPackets;
    private double _pendingBytes;
    private double _keptBytes;
    private int _samples;
    private long _latencyTicks;
    private long _latencyMost;
    private long _published;
    private bool _isOver;

    private LoadRun(LoadPlan plan)
    {
        _plan = plan;
        _delivered = new long[plan.Nodes];
        _payload = new byte[plan.MessageBytes];
        var nodes = new QuickSilverOptions { SegmentationOffload = plan.Host.SegmentationOffload };
        _cluster = new SimulatedCluster(new SimulationOptions
        {
            Nodes = plan.Nodes,
            Seed = plan.Seed,
            Link = new LinkModel { Delay = plan.Host.LinkDelay },
            NodeOptions = plan.Replicas is { } replicas ? nodes with { Service = nodes.Service with { Replicas = replicas } } : nodes,
            TokenInterval = plan.TokenRate is { } rate ? TimeSpan.FromSeconds(1 / rate) : null,
            FeedbackRanges = plan.FeedbackRanges,
        });
    }

    private int Receivers => _plan.Nodes - 1;

    private SimulatedNode Sender => _cluster.Nodes[0];

    public static LoadFigures Measure(LoadPlan plan)
    {
        using var run = new LoadRun(plan);
        return run.Measure();
    }

    public void Dispose() => _cluster.Dispose();

    private LoadFigures Measure()
    {
        Begin();
        Pass(_plan.WarmUp);
        Break();
        Forget();
        var began = _cluster.Now;
        long[] before = [.. _delivered];
        long published = _published;
        var busy = _cluster.Nodes.Select(BusyTime).ToArray();
        Pass(_plan.Duration);
        double seconds = (_cluster.Now - began).TotalSeconds;
        long[] rates = [.. _delivered.Skip(1).Select((count, i) => count - before[i + 1])];
        var shares = _cluster.Nodes.Select((node, i) => Math.Max(0, (BusyTime(node) - busy[i]).TotalSeconds / seconds)).ToArray();
        double latency = _latencyTicks / (double)Math.Max(1, rates.Sum());
        long latencyMost = _latencyMost;
        published = _published - published;
        long missing = CatchUp();
        var counters = _cluster.Nodes.Where(node => node.IsJoined).Select(node => CountersOf(node)).ToList();
        return new LoadFigures
        {
            MessagesPerSecond = rates.Average() / seconds,
            SlowestMessagesPerSecond = rates.Min() / seconds,
            Published = published,
            Deliveries = rates.Sum(),
            Gaps = _cluster.Nodes.Where(node => node.IsJoined).Sum(node => node.Node.GetCounters().Gaps),
            Missing = missing,
            TokenRoundTripMillis = _roundTrips == 0 ? 0 : _roundTripSum / _roundTrips,
            WorstTokenRoundTripMillis = _worstRoundTrip,
            PendingAcks = _pendingPackets / Math.Max(1, _samples),
            PendingBytes = _pendingBytes / Math.Max(1, _samples),
            ReceiverKeptBytes = _keptBytes / Math.Max(1, _samples) / Receivers,
            LatencyMeanMillis = latency / TimeSpan.TicksPerMillisecond,
            LatencyMostMillis = (double)latencyMost / TimeSpan.TicksPerMillisecond,
            SenderBusyShare = shares[0],
            ReceiverBusyShare = shares.Skip(1).Average(),
            RepairsSent = counters.Sum(each => each.RepairsSent),
            PullsSent = counters.Sum(each => each.PullsSent),
            SenderRepairs = CountersOf(Sender).RepairsSent,
            Repair = _repair.Figures,
            TraceHash = _cluster.TraceHash,
            VirtualSeconds = _cluster.Now.TotalSeconds,
        };
    }

    private void Begin()
    {
        _cluster.Start(SubscribeAsync, CatchUpLimit * 4);
        _topics.AddRange(_cluster.RunUntilCompleted(OpenAll(Sender, TopicAccess.Publish), CatchUpLimit * 4));
        foreach (var topic in _topics)
        {
            _cluster.RunUntilCompleted(topic.WaitForSubscribersAsync(Receivers), CatchUpLimit * 4);
        }

        foreach (var node in _cluster.Nodes)
        {
            MulticastOf(node).RepairWatch = _repair.Watch(() => _cluster.Now);
            node.Model = _plan.Host.Of(node.Model);
        }

        Send();
    }

    private async Task SubscribeAsync(SimulatedNode node)
    {
        if (node.Number == 0)
        {
            return;
        }

        foreach (var topic in await OpenAll(node, TopicAccess.Subscribe))
        {
            topic.SubscribeInline((in message) =>
            {
                _delivered[node.Number]++;
                _deliveredToAll++;
                long waited = _cluster.Now.Ticks - BinaryPrimitives.ReadInt64LittleEndian(message.Value.Span);
                _latencyTicks += waited;
                _latencyMost = Math.Max(_latencyMost, waited);
            });
        }
    }

    // All at once: the membership service answers many in one configuration.
    private Task<TopicEndpoint<ReadOnlyMemory<byte>>[]> OpenAll(SimulatedNode node, TopicAccess access) =>
        Task.WhenAll(Enumerable.Range(0, _plan.Topics).Select(i =>
            node.Node.OpenEndpointAsync<ReadOnlyMemory<byte>>(NameOf(i), access)));

    private void Send()
    {
        if (_plan.Rate is { } rate)
        {
            var pause = TimeSpan.FromTicks((long)(TimeSpan.TicksPerSecond / rate));
            Sender.Post(() => SendAtRateAsync(pause));
        }
        else if (_topics.Count == 1)
        {
            _topics[0].AttachFeed((out value) =>
            {
                value = Next();
                return !_isOver;
            });
        }
        else
        {
            Sender.Post(SendInTurnAsync);
        }
    }

    private async Task SendInTurnAsync()
    {
        while (!_isOver)
        {
            await _topics[(int)(_published % _topics.Count)].PublishAsync(Next());
        }
    }

    private async Task SendAtRateAsync(TimeSpan pause)
    {
        var begun = _cluster.Now;
        while (!_isOver)
        {
            await Sleep(begun + (pause * _published) - _cluster.Now);
            if (_isOver)
            {
                return;
            }

            await _topics[(int)(_published % _topics.Count)].PublishAsync(Next());
        }
    }

    // A delay of the library's counts whole milliseconds; this one any.
    private Task Sleep(TimeSpan time)
    {
        if (time <= TimeSpan.Zero)
        {
            return Task.CompletedTask;
        }

        var over = new TaskCompletionSource();
        Sender.Time.CreateTimer(_ => over.SetResult(), null, time, Timeout.InfiniteTimeSpan);
        return over.Task;
    }

    private ReadOnlyMemory<byte> Next()
    {
        if (!_isOver)
        {
            BinaryPrimitives.WriteInt64LittleEndian(_payload.AsSpan(0, StampBytes), _cluster.Now.Ticks);
            _published++;
        }

        return _payload;
    }

    private void Break()
    {
        var faults = _plan.Faults;
        var perturbed = _cluster.Nodes[^1];
        if (faults.Loss > 0)
        {
            _cluster.Network.Model = _cluster.Network.Model with { Loss = faults.Loss };
        }

        if (faults.Drawn != FaultKinds.None)
        {
            var plan = new FaultPlan { Kinds = faults.Drawn, Nodes = [.. Enumerable.Range(1, Receivers)], Until = _plan.Duration };
            FaultSchedule.Draw(plan, _plan.Seed, _plan.Nodes).Start(_cluster.Machines, _cluster);
        }

        if (faults.Sleep)
        {
            Repeat(SleepInterval, () => perturbed.Pause(SleepLength));
        }

        if (faults.LossBursts)
        {
            Repeat(BurstInterval, () =>
            {
                perturbed.Faults.IsDeaf = true;
                _cluster.After(BurstLength, () => perturbed.Faults.IsDeaf = false);
            });
        }
    }

    // For the first time half an interval from now, so that short runs have some of it too.
    private void Repeat(TimeSpan interval, Action action)
    {
        _cluster.After(interval / 2, Act);

        void Act()
        {
            if (!_isOver)
            {
                action();
                _cluster.After(interval, Act);
            }
        }
    }

    private void Pass(TimeSpan time)
    {
        for (var end = _cluster.Now + time; _cluster.Now < end;)
        {
            _cluster.Run(Sample < end - _cluster.Now ? Sample : end - _cluster.Now);
            TakeSample();
        }
    }

    private void TakeSample()
    {
        long packets = 0;
        foreach (var stream in MulticastOf(Sender).Streams)
        {
            packets += stream.IsReliable ? stream.Pending : 0;
        }

        long kept = Sender.Node.GetGauges().UnacknowledgedBytes;
        _pendingPackets += packets;
        _pendingBytes += kept;
        _samples++;
        Sender.Model = _plan.Host.Of(Sender.Model, kept);
        foreach (var node in _cluster.Nodes)
        {
            if (!node.IsJoined)
            {
                continue;
            }

            long keptHere = 0;
            foreach (var region in MulticastOf(node).Regions)
            {
                foreach (var stream in region.Streams)
                {
                    keptHere += stream.KeptBytes;
                }

                double millis = ((RingHierarchy)region.Stability).LastRoundTrip.TotalMilliseconds;
                if (millis > 0)
                {
                    _roundTripSum += millis;
                    _roundTrips++;
                    _worstRoundTrip = Math.Max(_worstRoundTrip, millis);
                }
            }

            if (node != Sender)
            {
                _keptBytes += keptHere;
                node.Model = _plan.Host.Of(node.Model, keptHere);
            }
        }
    }

    private void Forget()
    {
        _roundTripSum = _worstRoundTrip = _pendingPackets = _pendingBytes = _keptBytes = 0;
        _roundTrips = _latencyTicks = _latencyMost = 0;
        _samples = 0;
        _repair.Forget();
    }

    private long CatchUp()
    {
        _isOver = true;
        _cluster.Heal();
        bool anyCrashed = _cluster.Nodes.Any(node => node.Lives > 1);
        if (anyCrashed)
        {
            _cluster.Run(SleepInterval);
            return 0;
        }

        // A message that was being published when the run ended counts when it has been.
        _cluster.RunUntil(() => _deliveredToAll >= _published * Receivers, CatchUpLimit);
        return (_published * Receivers) - _deliveredToAll;
    }

    private static string NameOf(int topic) => $"load/{topic}";

    private static TimeSpan BusyTime(SimulatedNode node) => node.IsUp ? node.Life!.Environment.Spent : TimeSpan.Zero;

    private static MulticastNode MulticastOf(SimulatedNode node) => (MulticastNode)node.Life!.Parts.Multicast;

    private static MulticastCounters CountersOf(SimulatedNode node) => MulticastOf(node).Counters;
}
