using System.Buffers.Binary;
using QuickSilver.Core.Wire;
using QuickSilver.Endpoints;
using QuickSilver.Multicast;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Simulation.Experiments;

// Whole nodes: the first ones publish to all topics in turn, all others subscribe to all of them, or by communities to some. What is
// measured is measured between two points of virtual time; then the sender stops, and all that was published has to arrive.
internal sealed class LoadRun : IDisposable
{
    /// <summary>A message begins with the time.</summary>
    public const int StampBytes = sizeof(long);

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
    private readonly LoadSamples _samples;
    private readonly Distribution _latency = new();
    // By sender.
    private readonly TopicEndpoint<ReadOnlyMemory<byte>>[][] _topics;
    private readonly long[] _published;
    // The receivers of each community, and the subscribers of all topics before each topic together.
    private readonly int[] _subscribers;
    private readonly long[] _subscribersUpTo;
    private bool _isOver;

    private LoadRun(LoadPlan plan)
    {
        _plan = plan;
        _delivered = new long[plan.Nodes];
        _payload = new byte[plan.MessageBytes];
        _topics = new TopicEndpoint<ReadOnlyMemory<byte>>[plan.Senders][];
        _published = new long[plan.Senders];
        _subscribers = new int[plan.Communities];
        for (int node = plan.Senders; node < plan.Nodes; node++)
        {
            _subscribers[CommunityOf(node)]++;
        }

        _subscribersUpTo = new long[plan.Topics + 1];
        for (int topic = 0; topic < plan.Topics; topic++)
        {
            _subscribersUpTo[topic + 1] = _subscribersUpTo[topic] + _subscribers[topic % plan.Communities];
        }

        var nodes = new QuickSilverOptions { SegmentationOffload = plan.Host.SegmentationOffload };
        nodes.PacketBytes = plan.OnePerPacket ? PacketOfOne(plan.MessageBytes) : nodes.PacketBytes;
        nodes.Membership.Hosted.Replicas = plan.Replicas ?? nodes.Membership.Hosted.Replicas;
        _cluster = new SimulatedCluster(new SimulationOptions
        {
            Nodes = plan.Nodes,
            Seed = plan.Seed,
            Link = new LinkModel { Delay = plan.Host.LinkDelay },
            // It measures the product alone.
            TopicDelay = TimeSpan.Zero,
            NotesDeliveries = false,
            NodeOptions = nodes,
            Experiments = new()
            {
                TokenInterval = plan.TokenRate is { } rate ? TimeSpan.FromSeconds(1 / rate) : null,
                FeedbackRanges = plan.FeedbackRanges,
                PullsWaitForKeepers = plan.PullsWaitForKeepers,
            },
            TopicSets = plan.Sets,
        });
        _samples = new LoadSamples(plan, _cluster);
    }

    private int Receivers => _plan.Nodes - _plan.Senders;

    // What all receivers together are to get of the messages to all topics in turn.
    private long Owed => _published.Sum(count =>
        (count / _plan.Topics * _subscribersUpTo[^1]) + _subscribersUpTo[(int)(count % _plan.Topics)]);

    private IEnumerable<SimulatedNode> Senders => _cluster.Nodes.Take(_plan.Senders);

    private long Published => _published.Sum();

    public static LoadFigures Measure(LoadPlan plan) => Trace(plan).Figures;

    public static LoadOutcome Trace(LoadPlan plan)
    {
        using var run = new LoadRun(plan);
        return run.Measure();
    }

    public void Dispose() => _cluster.Dispose();

    private LoadOutcome Measure()
    {
        Begin();
        Pass(_plan.WarmUp);
        Break();
        _samples.Clear(_deliveredToAll);
        _latency.Clear();
        var began = _cluster.Now;
        long[] before = [.. _delivered];
        long published = Published;
        var busy = _cluster.Nodes.Select(BusyTime).ToArray();
        var sent = CountSent();
        Pass(_plan.Duration);
        double seconds = (_cluster.Now - began).TotalSeconds;
        long[] rates = [.. _delivered.Skip(_plan.Senders).Select((count, i) => count - before[i + _plan.Senders])];
        var shares = _cluster.Nodes.Select((node, i) => Math.Max(0, (BusyTime(node) - busy[i]).TotalSeconds / seconds)).ToArray();
        var (packets, bytes) = CountSent();
        packets -= sent.Packets;
        bytes -= sent.Bytes;
        published = Published - published;
        var traces = _samples.Traces(_latency);
        var perturbed = _samples.Perturbed(packets);
        var collector = _samples.Collector(seconds);
        long missing = CatchUp();
        var counters = _cluster.Nodes.Where(node => node.IsJoined).Select(CountersOf).ToList();
        var figures = new LoadFigures
        {
            MessagesPerSecond = rates.Average() / seconds,
            SlowestMessagesPerSecond = rates.Min() / seconds,
            PublishedPerSecond = published / seconds,
            Published = published,
            Deliveries = rates.Sum(),
            Gaps = _cluster.Nodes.Where(node => node.IsJoined).Sum(node => node.Node.GetCounters().Gaps),
            Missing = missing,
            MessagesPerPacket = published / Math.Max(1.0, packets),
            TokenRoundTripMillis = _samples.RoundTripMillis,
            WorstTokenRoundTripMillis = _samples.WorstRoundTripMillis,
            AckMillis = traces.Ack.Mean / TimeSpan.TicksPerMillisecond,
            PendingAcks = _samples.PendingPackets,
            PendingBytes = _samples.PendingBytes,
            ReceiverKeptBytes = _samples.ReceiverKeptBytes,
            LatencyMeanMillis = _latency.Mean / TimeSpan.TicksPerMillisecond,
            LatencyMostMillis = (double)_latency.Most / TimeSpan.TicksPerMillisecond,
            SenderBusyShare = shares.Take(_plan.Senders).Average(),
            ReceiverBusyShare = shares.Skip(_plan.Senders).Average(),
            SenderCardShare = bytes / seconds / _plan.Senders / _plan.Host.DatagramBytesPerSecond,
            Collector = collector,
            Perturbed = perturbed,
            RepairsSent = counters.Sum(each => each.RepairsSent),
            PullsSent = counters.Sum(each => each.PullsSent),
            SenderRepairs = Senders.Sum(node => CountersOf(node).RepairsSent),
            Repair = _samples.Repair,
            TraceHash = _cluster.TraceHash,
            VirtualSeconds = _cluster.Now.TotalSeconds,
        };
        return new LoadOutcome(figures, traces);
    }

    private (long Packets, long Bytes) CountSent()
    {
        var counters = Senders.Select(CountersOf).ToList();
        return (counters.Sum(each => each.PacketsSent), counters.Sum(each => each.BytesSent));
    }

    private void Begin()
    {
        _cluster.Start(SubscribeAsync, CatchUpLimit * 4);
        foreach (var sender in Senders)
        {
            _topics[sender.Number] = _cluster.RunUntilCompleted(OpenAll(sender, TopicAccess.Publish), CatchUpLimit * 4);
            for (int topic = 0; topic < _plan.Topics; topic++)
            {
                int subscribers = _subscribers[topic % _plan.Communities];
                _cluster.RunUntilCompleted(_topics[sender.Number][topic].WaitForSubscribersAsync(subscribers), CatchUpLimit * 4);
            }
        }

        _samples.Begin();
        foreach (var sender in Senders)
        {
            Send(sender);
        }
    }

    private async Task SubscribeAsync(SimulatedNode node)
    {
        if (node.Number < _plan.Senders)
        {
            return;
        }

        foreach (var topic in await OpenAll(node, TopicAccess.Subscribe))
        {
            topic.SubscribeInline((in message) =>
            {
                node.Spend(_plan.Host.ReceivedMessage);
                _delivered[node.Number]++;
                _deliveredToAll++;
                if (!_isOver)
                {
                    _latency.Add(_cluster.Now.Ticks - BinaryPrimitives.ReadInt64LittleEndian(message.Value.Span));
                }
            });
        }
    }

    // All at once: the membership service answers many in one configuration.
    private Task<TopicEndpoint<ReadOnlyMemory<byte>>[]> OpenAll(SimulatedNode node, TopicAccess access) =>
        Task.WhenAll(Enumerable.Range(0, _plan.Topics)
            .Where(topic => access == TopicAccess.Publish || topic % _plan.Communities == CommunityOf(node.Number))
            .Select(topic => node.Node.OpenEndpointAsync<ReadOnlyMemory<byte>>(NameOf(topic), access)));

    private int CommunityOf(int receiver) => (receiver - _plan.Senders) % _plan.Communities;

    private void Send(SimulatedNode sender)
    {
        var topics = _topics[sender.Number];
        if (_plan.Rate is { } rate)
        {
            var pause = TimeSpan.FromTicks((long)(TimeSpan.TicksPerSecond * _plan.Senders / rate));
            sender.Post(() => SendAtRateAsync(sender, pause));
        }
        else if (topics.Length == 1)
        {
            topics[0].AttachFeed((out value) =>
            {
                value = Next(sender);
                return !_isOver;
            });
        }
        else
        {
            sender.Post(() => SendInTurnAsync(sender));
        }
    }

    private async Task SendInTurnAsync(SimulatedNode sender)
    {
        while (!_isOver)
        {
            await TopicInTurn(sender).PublishAsync(Next(sender));
        }
    }

    private async Task SendAtRateAsync(SimulatedNode sender, TimeSpan pause)
    {
        var begun = _cluster.Now;
        while (!_isOver)
        {
            await Sleep(sender, begun + (pause * _published[sender.Number]) - _cluster.Now);
            if (_isOver)
            {
                return;
            }

            await TopicInTurn(sender).PublishAsync(Next(sender));
        }
    }

    private TopicEndpoint<ReadOnlyMemory<byte>> TopicInTurn(SimulatedNode sender) =>
        _topics[sender.Number][(int)(_published[sender.Number] % _plan.Topics)];

    // A delay of the library's counts whole milliseconds; this one any.
    private static Task Sleep(SimulatedNode sender, TimeSpan time)
    {
        if (time <= TimeSpan.Zero)
        {
            return Task.CompletedTask;
        }

        var over = new TaskCompletionSource();
        sender.Time.CreateTimer(_ => over.SetResult(), null, time, Timeout.InfiniteTimeSpan);
        return over.Task;
    }

    private ReadOnlyMemory<byte> Next(SimulatedNode sender)
    {
        if (!_isOver)
        {
            sender.Spend(_plan.Host.SentMessage);
            BinaryPrimitives.WriteInt64LittleEndian(_payload.AsSpan(0, StampBytes), _cluster.Now.Ticks);
            _published[sender.Number]++;
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
            int[] nodes = [.. Enumerable.Range(_plan.Senders, Receivers)];
            var plan = new FaultPlan { Kinds = faults.Drawn, Nodes = nodes, Until = _plan.Duration };
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
            _cluster.RunUntil(_samples.LookOn, Sample < end - _cluster.Now ? Sample : end - _cluster.Now);
            _samples.Take(_deliveredToAll);
        }
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
        _cluster.RunUntil(() => _deliveredToAll >= Owed, CatchUpLimit);
        return Owed - _deliveredToAll;
    }

    // The next message does not fit, not even its header; and one that begins late, behind the table of a topic's first message, begins
    // that much earlier in each packet until it does not.
    private static int PacketOfOne(int messageBytes) =>
        Math.Max(MulticastOptions.MinPacketBytes, PacketHeader.Bytes + (2 * MessageHeader.Bytes) + messageBytes - 1);

    private static string NameOf(int topic) => $"load/{topic}";

    private static TimeSpan BusyTime(SimulatedNode node) => node.IsUp ? node.Life!.Environment.Spent : TimeSpan.Zero;

    private static MulticastCounters CountersOf(SimulatedNode node) => ((MulticastNode)node.Life!.Parts.Multicast).Counters;
}
