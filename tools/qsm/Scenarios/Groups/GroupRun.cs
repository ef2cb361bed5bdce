using QuickSilver.Groups;
using QuickSilver.Multicast;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Simulation;
using QuickSilver.Simulation.Experiments;

namespace QuickSilver.Tool.Scenarios.Groups;

// Whole nodes that are members of one group. What is measured is measured between two points of virtual time at the members that stay; then
// the senders stop, and all that was sent has to arrive.
internal sealed class GroupRun : IDisposable
{
    private const string GroupName = "load";
    private const int MessagesOfTurn = 50;

    private static readonly TimeSpan Sample = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan SetUpLimit = TimeSpan.FromSeconds(120);
    private static readonly TimeSpan CatchUpLimit = TimeSpan.FromSeconds(30);

    private readonly LoadPlan _plan;
    private readonly GroupLoad _load;
    private readonly SimulatedCluster _cluster;
    private readonly LoadSamples _samples;
    private readonly GroupDeliveries _deliveries;
    private readonly IGroup<ReadOnlyMemory<byte>>[] _groups;
    private readonly int[] _viewSizes;
    private readonly Dictionary<NodeId, int> _numbers = [];
    private readonly ReadOnlyMemory<byte> _message;
    private bool _isOver;

    private GroupRun(LoadPlan plan, GroupLoad load)
    {
        _plan = plan;
        _load = load;
        _message = new byte[plan.MessageBytes];
        _cluster = new SimulatedCluster(new SimulationOptions
        {
            Nodes = plan.Nodes,
            Seed = plan.Seed,
            Link = new LinkModel { Delay = plan.Host.LinkDelay },
            // It measures the product alone.
            TopicDelay = TimeSpan.Zero,
            NotesDeliveries = false,
            NodeOptions = new QuickSilverOptions { SegmentationOffload = plan.Host.SegmentationOffload },
        });
        int staying = load.ChurnInterval is null ? plan.Nodes : plan.Nodes - 1;
        _groups = new IGroup<ReadOnlyMemory<byte>>[staying];
        _viewSizes = new int[plan.Nodes];
        _deliveries = new GroupDeliveries(plan.Senders, staying);
        // Other members may send too. What is read of senders is read of the first.
        _samples = new LoadSamples(plan with { Senders = 1 }, _cluster);
    }

    // The process of a node that the service removed begins again, and does not join the group.
    private int Removed => _cluster.Nodes.Count(node => node.Lives > 1 || !node.IsJoined);

    private IEnumerable<SimulatedNode> Senders => _cluster.Nodes.Take(_plan.Senders);

    public static LoadOutcome Trace(LoadPlan plan, GroupLoad load)
    {
        using var run = new GroupRun(plan, load);
        return run.Measure();
    }

    public void Dispose() => _cluster.Dispose();

    private LoadOutcome Measure()
    {
        Begin();
        Pass(_plan.WarmUp);
        _cluster.Network.Model = _cluster.Network.Model with { Loss = _plan.Faults.Loss };
        _samples.Clear(_deliveries.Total);
        _deliveries.Clear();
        var began = _cluster.Now;
        var busy = _cluster.Nodes.Select(BusyTime).ToArray();
        var sent = CountSent();
        Pass(_plan.Duration);
        double seconds = (_cluster.Now - began).TotalSeconds;
        double[] shares = [.. _cluster.Nodes.Select((node, i) => Math.Max(0, (BusyTime(node) - busy[i]).TotalSeconds / seconds))];
        var (packets, bytes) = CountSent();
        long published = _deliveries.Sent;
        // A member that sends gets the messages of the others.
        double[] rates = [.. _deliveries.Counts.Skip(_plan.Senders == _groups.Length ? 0 : _plan.Senders).Select(count => count / seconds)];
        long deliveries = _deliveries.Counts.Sum();
        var perturbed = _samples.Perturbed(packets - sent.Packets);
        var collector = _samples.Collector(seconds);
        _deliveries.End();
        long missing = CatchUp();
        var traces = _samples.Traces(_deliveries.Latency) with { LatencyOfEach = _deliveries.LatencyOfEach };
        var counters = _cluster.Nodes.Where(node => node.IsJoined).Select(CountersOf).ToList();
        var figures = new LoadFigures
        {
            MessagesPerSecond = rates.Average(),
            SlowestMessagesPerSecond = rates.Min(),
            PublishedPerSecond = published / seconds,
            Published = published,
            Deliveries = deliveries,
            Gaps = _cluster.Nodes.Where(node => node.IsJoined).Sum(node => node.Node.GetCounters().Gaps),
            Missing = missing,
            RemovedNodes = Removed,
            MessagesPerPacket = published / Math.Max(1.0, packets - sent.Packets),
            TokenRoundTripMillis = _samples.RoundTripMillis,
            WorstTokenRoundTripMillis = _samples.WorstRoundTripMillis,
            AckMillis = traces.Ack.Mean / TimeSpan.TicksPerMillisecond,
            PendingAcks = _samples.PendingPackets,
            PendingBytes = _samples.PendingBytes,
            ReceiverKeptBytes = _samples.ReceiverKeptBytes,
            LatencyMeanMillis = traces.Latency.Mean / TimeSpan.TicksPerMillisecond,
            LatencyMostMillis = (double)traces.Latency.Most / TimeSpan.TicksPerMillisecond,
            SenderBusyShare = shares.Take(_plan.Senders).Average(),
            ReceiverBusyShare = shares.Skip(_plan.Senders == _plan.Nodes ? 0 : _plan.Senders).Average(),
            SenderCardShare = (bytes - sent.Bytes) / seconds / _plan.Senders / _plan.Host.DatagramBytesPerSecond,
            Collector = collector,
            Perturbed = perturbed,
            RepairsSent = counters.Sum(each => each.RepairsSent),
            PullsSent = counters.Sum(each => each.PullsSent),
            SenderRepairs = Senders.Where(node => node.IsJoined).Sum(node => CountersOf(node).RepairsSent),
            Repair = _samples.Repair,
            TraceHash = _cluster.TraceHash,
            VirtualSeconds = _cluster.Now.TotalSeconds,
        };
        return new LoadOutcome(figures, traces);
    }

    private void Begin()
    {
        _cluster.Start(timeout: SetUpLimit);
        foreach (var node in _cluster.Nodes)
        {
            _numbers.Add(node.Node.Id, node.Number);
        }

        int[] joining = [.. Enumerable.Range(0, _groups.Length)];
        if (!_load.OldestSends)
        {
            (joining[0], joining[1]) = (joining[1], joining[0]);
        }

        foreach (int number in joining)
        {
            _groups[number] = _cluster.RunUntilCompleted(JoinAsync(_cluster.Nodes[number]), SetUpLimit);
        }

        _cluster.Eventually("all members are in one view", () => Array.TrueForAll(joining, IsComplete), SetUpLimit);
        _samples.Begin();
        var tokens = _load.Tokens is { } count ? new SenderTokens(count) : null;
        foreach (var sender in Senders)
        {
            sender.Post(() => _load.IsAsked ? AskAsync(sender) : tokens is null ? SendAsync(sender) : SendInTurnAsync(sender, tokens));
        }

        if (_load.ChurnInterval is { } interval)
        {
            var last = _cluster.Nodes[^1];
            last.Post(() => ComeAndGoAsync(last, interval));
        }
    }

    private async Task<IGroup<ReadOnlyMemory<byte>>> JoinAsync(SimulatedNode node)
    {
        var group = await node.Node.OpenGroupAsync<ReadOnlyMemory<byte>>(
            GroupName, new GroupOptions { Order = _load.Order, OrderFollowsTraffic = _load.OrderMoves });
        group.SubscribeInline((in GroupEvent<ReadOnlyMemory<byte>> one) =>
        {
            if (one.IsView)
            {
                _viewSizes[node.Number] = one.View.Members.Count;
                return;
            }

            node.Spend(_plan.Host.ReceivedMessage);
            if (node.Number < _groups.Length)
            {
                _deliveries.Add(node.Number, _numbers[one.Sender], Now(node));
            }

            if (one.Question is { } question)
            {
                node.Spend(_plan.Host.SentMessage);
                _ = question.ReplyAsync(default(ReadOnlyMemory<byte>));
            }
        });
        return group;
    }

    private async Task SendAsync(SimulatedNode sender)
    {
        var group = _groups[sender.Number];
        var pause = _plan.Rate is { } rate ? TimeSpan.FromTicks((long)(TimeSpan.TicksPerSecond * _plan.Senders / rate)) : TimeSpan.Zero;
        var due = Now(sender);
        while (!_isOver)
        {
            Note(sender);
            await group.SendAsync(_message);
            due += pause;
            if (pause > TimeSpan.Zero)
            {
                await SleepAsync(sender, due - Now(sender));
            }
            else
            {
                // The thread sends packets between two messages.
                await Task.Yield();
            }
        }
    }

    // A member keeps its token until the others have what it sent, and not only its own buffers: the last message of a turn asks all.
    private async Task SendInTurnAsync(SimulatedNode sender, SenderTokens tokens)
    {
        var group = _groups[sender.Number];
        while (!_isOver)
        {
            await tokens.TakeAsync();
            for (int i = 1; i < MessagesOfTurn; i++)
            {
                Note(sender);
                await group.SendAsync(_message);
                await Task.Yield();
            }

            Note(sender);
            await foreach (var _ in group.AskAsync<ReadOnlyMemory<byte>>(_message, new QuestionOptions { Timeout = CatchUpLimit }))
            {
                // One of all.
            }

            tokens.Return();
        }
    }

    // A multicast in which one reply is requested, of one destination other than the sender: the youngest.
    private async Task AskAsync(SimulatedNode sender)
    {
        var group = _groups[sender.Number];
        int rank = _groups.Length > 2 ? _groups.Length - 1 : _load.OldestSends ? 1 : 0;
        var options = new QuestionOptions { Repliers = GroupRepliers.Rank(rank), Timeout = CatchUpLimit };
        while (!_isOver)
        {
            Note(sender);
            await foreach (var reply in group.AskAsync<ReadOnlyMemory<byte>>(_message, options))
            {
                if (!reply.IsAnswer)
                {
                    throw new InvalidOperationException($"A question to {reply.Member} ended as {reply.Outcome} at {sender}.");
                }
            }
        }
    }

    private async Task ComeAndGoAsync(SimulatedNode node, TimeSpan interval)
    {
        while (!_isOver)
        {
            var group = await JoinAsync(node);
            await Task.Delay(interval, node.Time);
            await group.DisposeAsync();
            await Task.Delay(interval, node.Time);
        }
    }

    private void Note(SimulatedNode sender)
    {
        _deliveries.Send(sender.Number, Now(sender));
        sender.Spend(_plan.Host.SentMessage);
    }

    private void Pass(TimeSpan time)
    {
        for (var end = _cluster.Now + time; _cluster.Now < end;)
        {
            _cluster.RunUntil(_samples.LookOn, Sample < end - _cluster.Now ? Sample : end - _cluster.Now);
            _samples.Take(_deliveries.Total);
        }
    }

    private long CatchUp()
    {
        _isOver = true;
        _cluster.Heal();
        _cluster.RunUntil(() => Removed > 0 || _deliveries.Missing == 0, CatchUpLimit);
        // What a removed member has sent, and was to get, is owed no more.
        return Removed > 0 ? 0 : _deliveries.Missing;
    }

    private (long Packets, long Bytes) CountSent()
    {
        var counters = Senders.Where(node => node.IsJoined).Select(CountersOf).ToList();
        return (counters.Sum(each => each.PacketsSent), counters.Sum(each => each.BytesSent));
    }

    private bool IsComplete(int number) => _viewSizes[number] == _groups.Length;

    // A delay of the library's counts whole milliseconds; this one any.
    private static Task SleepAsync(SimulatedNode sender, TimeSpan time)
    {
        if (time <= TimeSpan.Zero)
        {
            return Task.CompletedTask;
        }

        var over = new TaskCompletionSource();
        sender.Time.CreateTimer(_ => over.SetResult(), null, time, Timeout.InfiniteTimeSpan);
        return over.Task;
    }

    // Within what the node does now: later than the time of the simulation by what that has cost so far.
    private static TimeSpan Now(SimulatedNode node) => node.Life!.Environment.Now;

    private static TimeSpan BusyTime(SimulatedNode node) => !node.IsUp ? TimeSpan.Zero : node.Life!.Environment.Spent;

    private static MulticastCounters CountersOf(SimulatedNode node) => ((MulticastNode)node.Life!.Parts.Multicast).Counters;
}
