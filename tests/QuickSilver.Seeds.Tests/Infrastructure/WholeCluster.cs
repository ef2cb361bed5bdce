using System.Collections.Immutable;
using System.Net;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Composition;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Service.Access;
using QuickSilver.Membership.Service.Stores;
using QuickSilver.Multicast;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Seeds.Tests.Infrastructure.Courses;
using QuickSilver.Seeds.Tests.Infrastructure.Recording;
using QuickSilver.Simulation;
using QuickSilver.Simulation.Checkers.Records;
using QuickSilver.Simulation.Checkers.Synchrony;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Seeds.Tests.Infrastructure;

// Whole nodes in the simulator: the public face over membership and multicast, on simulated machines, with the membership
// service on a machine of its own (number 0) or embedded. One thread, one order of events: what is awaited continues in the
// instant in which it completes, so a run is the same each time.
internal sealed class WholeCluster : IDisposable
{
    private const int ServicePort = 7400;

    private static readonly TimeSpan MostWrong = TimeSpan.FromDays(365 * 30);

    private readonly SynchronizationContext? _outer = SynchronizationContext.Current;
    private readonly List<WholeNode> _nodes = [];
    private readonly List<Exception> _faults = [];
    private readonly SeededRandom _random;
    private readonly ScenarioContext _scenario;
    private readonly ProtocolOptions _options;
    private readonly ProtocolOptions _otherOptions;
    private readonly Strangers? _strangers;
    private byte[] _payload = new byte[64 << 10];
    private readonly FailingStore? _store;
    private readonly Lease? _lease;
    private readonly ITopicAccess? _access;
    private readonly RecordTail? _tail;
    private long _subscriptions;

    /// <summary>Reliable topics that own their regions.</summary>
    public static TopicProtocolFactory Pinned { get; } = PlainTopics.Of("Pinned", new ChannelSpec { IsPinned = true });

    public WholeCluster(ulong seed, ClusterSetup setup, params HistoryChecker[] checkers)
    {
        // A test framework's context would take what is awaited to another thread.
        SynchronizationContext.SetSynchronizationContext(null);
        Seed = seed;
        Setup = setup;
        AreSubscribersOdd = setup.HasOddSubscribers;
        AreHandlersBusy = setup.Hardships.HasFlag(Hardships.BusyHandlers);
        _options = ProtocolsOf(setup.Options);
        _otherOptions = setup.OtherOptions is { } other ? ProtocolsOf(other) : _options;
        _tail = checkers.OfType<RecordTail>().FirstOrDefault();
        Synchrony = checkers.OfType<SynchronyChecker>().FirstOrDefault();
        History = new History(checkers.Length > 0 ? checkers : [.. CampaignCheckers.All()]);
        Simulation = new SimulatedMachines(
            new SimulationOptions { Seed = seed, Epoch = setup.Epoch, Link = setup.Link, PoolBytes = setup.PoolBytes });
        _random = SeededRandom.Derive(seed, purpose: 7, owner: 0);
        _scenario = new ScenarioContext(Simulation.Time, Escapes);
        IsOne = !setup.IsEmbedded;
        if (!setup.IsEmbedded)
        {
            var machine = Simulation.AddService();
            SetWrong(machine);
            _access = setup.Rights?.ToFile();
            _store = new FailingStore(machine, Simulation, seed);
            _lease = setup.Servers > 1 ? new Lease(Simulation) : null;
            Serve(machine);
        }

        Simulation.NodeStarted = Begin;
        Simulation.NodeEnded = machine => Of(machine)?.End();
        for (int i = 0; i < setup.Nodes; i++)
        {
            var node = new WholeNode(this, Simulation.AddNode());
            _nodes.Add(node);
            node.Machine.Identity = setup.Rights is null ? null : DrawnRights.IdentityOf(node.Machine.Number);
            SetWrong(node.Machine);
            Simulation.After(_random.UpTo(TimeSpan.FromMilliseconds(200)), node.Begin);
        }

        if (!setup.IsEmbedded)
        {
            for (int i = 1; i < setup.Servers; i++)
            {
                var machine = Simulation.AddService();
                SetWrong(machine);
                Serve(machine);
            }

            Services = [.. setup.ServerNumbers.Select(number => EndPointOf(Simulation.Nodes[number]))];
        }

        _strangers = setup.Hardships.HasFlag(Hardships.OtherCluster) ? new Strangers(this) : null;
    }

    private ProtocolOptions ProtocolsOf(QuickSilverOptions options)
    {
        bool isSealed = Setup.Hardships.HasFlag(Hardships.Sealed);
        if (isSealed)
        {
            int least = MulticastOptions.LeastDatagramBytes(isSealed);
            options = options.Copy(copy => copy.PacketBytes = Math.Max(least, copy.PacketBytes));
        }

        if (Setup.Rights is { } rights)
        {
            options = options.Copy(copy => copy.Membership.Hosted.Rights = rights);
        }

        return ProtocolOptions.Of(options, new ProtocolSetup
        {
            TopicSets = Setup.TopicSets,
            ReassemblyBytes = Setup.ReassemblyBytes,
            LeastSends = LeastSends(Seed),
            Protocols = TopicProtocols.BuiltIn.With(Pinned),
            IsSealed = isSealed,
            PacketsPerKeyEpoch = isSealed ? PacketsPerKeyEpoch : null,
        });
    }

    // Epochs end and begin within a run. Packets overtake each other, and members open the last two epochs: what is on the way at a time
    // must not be of three. The pieces of large messages leave in bursts of more than a hundred packets.
    private long PacketsPerKeyEpoch => (100 + (long)(Seed % 1000)) * (Setup.Hardships.HasFlag(Hardships.LargeMessages) ? 10 : 1);

    /// <summary>Where what a machine logs is shown with the records of the run, if they are read.</summary>
    public ILoggerFactory LogsOf(SimulatedMachine machine) =>
        _tail?.LogsOf(machine.ToString(), () => Simulation.Now) ?? NullLoggerFactory.Instance;

    public static int Replicas(ulong seed) => (int)(seed / 3 % 4) switch { 0 => 5, 1 => 1, 2 => 2, _ => 3 };

    // In some runs so little that most of what is asked for must wait.
    public static long RepairRate(ulong seed) => seed % 5 == 4 ? 256 << 10 : new QuickSilverOptions().Limits.RepairBytesPerSecond;

    // In most runs, every topic in several regions has an address of its own.
    private static int? LeastSends(ulong seed) => seed % 4 == 0 ? null : 2;

    public static int RingSize(ulong seed) => (int)(seed / 12 % 4) switch { 0 => 16, 1 => 2, 2 => 3, _ => 4 };

    public ulong Seed { get; }

    /// <summary>What the nodes share of what they know of the cluster.</summary>
    public ConfigurationCache Configurations { get; } = new();

    public ClusterSetup Setup { get; }

    public QuickSilverOptions Options => Setup.Options;

    /// <summary>Whether subscribers do what they should not: as the setup says, until this is set to false.</summary>
    public bool AreSubscribersOdd { get; set; }

    /// <summary>Whether handlers publish and close: as the hardships say, until this is set to false.</summary>
    public bool AreHandlersBusy { get; set; }

    /// <summary>Whether the readers of <see cref="Sleepers"/> take nothing more.</summary>
    public bool AreReadersAsleep { get; set; }

    /// <summary>Which nodes read which topics and may stop reading; before they subscribe.</summary>
    public HashSet<(int Node, string Topic)> Sleepers { get; } = [];

    /// <summary>Finds a reader that continued outside of the simulation.</summary>
    public EscapeWatch Escapes { get; } = new();

    public SimulatedMachines Simulation { get; }

    public History History { get; }

    /// <summary>Whether nodes may lose each other and stay up.</summary>
    public bool MayPart { get; init; }

    /// <summary>The checker that compares what members of pinned topics delivered in each view; null: none.</summary>
    public SynchronyChecker? Synchrony { get; }

    /// <summary>Null: embedded.</summary>
    public ImmutableArray<IPEndPoint> Services { get; private set; } = [];

    public IReadOnlyList<WholeNode> Nodes => _nodes;

    /// <summary>What several servers agree on; null: there is one.</summary>
    public Lease? Lease => _lease;

    /// <summary>The server that leads, of several; null: none.</summary>
    public SimulatedMachine? Leader => _lease?.Leader is { } leader
        ? Simulation.Nodes.FirstOrDefault(machine => machine.Address.Equals(leader.Address))
        : null;

    public SeededRandom Random => _random;

    /// <summary>
    /// Whether a subscription that is settled is owed what any node publishes. With embedded membership not before all are one
    /// cluster: until then there may be several, each with its own views (I8 holds in each).
    /// </summary>
    public bool IsOne { get; private set; }

    /// <summary>Requires that all nodes come into one cluster, with all that they want open, and that no other node is in it.</summary>
    public void RequireOne(TimeSpan limit, TimeSpan step, string when)
    {
        bool held = RunUntil(() => _nodes.TrueForAll(node => node.IsJoined && node.Current.Known == _nodes.Count), limit, step);
        Require(held, $"all are in one cluster {when}");
        IsOne = true;
        foreach (var node in _nodes)
        {
            node.Current.OnSettled();
        }

        Require(RunUntil(() => _nodes.TrueForAll(node => node.IsInOrder), limit, step), $"all is open and in view {when}");
    }

    /// <summary>Throws with what the checkers have found so far when something does not come to be that must.</summary>
    public void Require(bool held, string what)
    {
        if (!held)
        {
            throw new InvariantException($"I19: it never came to be that {what}.\n{string.Join('\n', History.Violations)}\n{Unordered()}");
        }
    }

    /// <summary>
    /// The time that a link needs at the least for what one node has sent and others still lack: nothing can be quiet before. Zero if the
    /// links have no rate.
    /// </summary>
    public TimeSpan LeastTimeToSend() => Setup.Link.BytesPerSecond is { } rate
        ? TimeSpan.FromSeconds(_nodes.Max(static node => node.Current.Parts.ReadMemory(quiet: true).RetainedBytes) / (double)rate)
        : TimeSpan.Zero;

    /// <summary>Requires that all that was sent is stable, and all old views are closed.</summary>
    public void RequireQuiet(TimeSpan limit, TimeSpan step)
    {
        if (!RunUntil(IsQuiet, limit, step))
        {
            var open = _nodes.Where(node => !node.IsJoined || !IsQuietAt(node)).Select(node => $"{node.Machine}: {node.Wants()}");
            throw new InvariantException($"I17: not all became quiet.\n{string.Join('\n', History.Violations)}\n{string.Join('\n', open)}");
        }
    }

    public void RequireAllSent()
    {
        foreach (var node in _nodes)
        {
            if (node.Current.FirstUnsent() is { } sentence)
            {
                throw new InvariantException($"I19: {sentence}\n{node.Machine}: {node.Wants()}");
            }
        }
    }

    public void Run(TimeSpan duration)
    {
        Escapes.Enter();
        Simulation.Run(duration);
        Escapes.Leave();
        if (Escapes.HasEscaped)
        {
            throw new InvalidOperationException($"A subscriber continued in the thread pool under seed {Seed}.");
        }

        _strangers?.Require();
        if (_faults.Count > 0)
        {
            throw new AggregateException($"The application failed under seed {Seed}: {_faults[0].Message}", _faults);
        }
    }

    /// <summary>Runs until the condition holds, looking at it from time to time; returns whether it held within the limit.</summary>
    public bool RunUntil(Func<bool> condition, TimeSpan limit, TimeSpan step)
    {
        var end = Simulation.Now + limit;
        while (!condition())
        {
            if (Simulation.Now >= end)
            {
                return false;
            }

            Run(step);
        }

        return true;
    }

    /// <summary>Publishes a message of random bytes; false when the node cannot.</summary>
    public bool Publish(WholeNode node, string topic, int bytes)
    {
        if (!node.CanAct)
        {
            return false;
        }

        if (_payload.Length < bytes + sizeof(ulong))
        {
            _payload = new byte[bytes + sizeof(ulong)];
        }

        for (int i = 0; i < bytes; i += sizeof(ulong))
        {
            System.Buffers.Binary.BinaryPrimitives.WriteUInt64LittleEndian(_payload.AsSpan(i), _random.Next());
        }

        return node.Current.TryPublish(topic, _payload.AsMemory(0, bytes));
    }

    /// <summary>Hands the checkers what each living node keeps.</summary>
    public void ReadMemory(bool quiet)
    {
        foreach (var node in _nodes)
        {
            if (node.IsJoined)
            {
                History.Read(node.Current.Parts.ReadMemory(quiet));
                long unaccounted = node.Current.Parts.Node.Counters.MessagesUnaccounted;
                Require(unaccounted == 0, $"all messages are accounted for ({node.Machine} reported {unaccounted} as a gap without cause)");
            }
        }
    }

    /// <summary>Has the checkers judge what takes too long.</summary>
    public void Look()
    {
        foreach (var node in _nodes)
        {
            if (node.CanAct)
            {
                node.Current.TellWaits();
            }
        }

        History.Look(Simulation.Now);
    }

    /// <summary>Hands the checkers how much lies in the tables of each living node.</summary>
    public void ReadTables()
    {
        foreach (var node in _nodes)
        {
            if (node.IsJoined)
            {
                var sizes = TableSizes.Of(node.Current.Parts.Tables);
                bool isHost = node.Machine.Environment.Endpoints.IsListening;
                History.Read(new TableReading(Simulation.Now, node.Machine.Number, node.Current.Key, isHost, sizes));
            }
        }
    }

    public bool IsQuiet() => _nodes.TrueForAll(node => node.IsJoined && IsQuietAt(node));

    public RepairTotals CountRepairs()
    {
        var counters = _nodes.SelectMany(node => node.Lives)
            .Where(life => life.Parts.HasBegun)
            .Select(life => life.Parts.Node.Counters)
            .ToArray();
        long requests = counters.Sum(each => each.PullsSent);
        return new RepairTotals(Simulation.Now, Simulation.Network.Disturbed, requests, counters.Sum(each => each.RepairsSent));
    }

    public static string MembershipOf(bool embedded) => embedded ? "embedded membership" : "a membership service of its own";

    private long SharedPackets() => _nodes.SelectMany(node => node.Lives)
        .Where(life => life.Parts.HasBegun)
        .Sum(life => life.Parts.Node.Counters.SharedPacketsSent);

    public RunResult Result() =>
        new(Simulation.Trace.Value, Simulation.Time.EventsFired, History.PublishedCount, History.DeliveredCount, CountRepairs(),
            SharedPackets());

    public void Dispose()
    {
        Simulation.NodeStarted = null;
        _strangers?.Dispose();
        foreach (var node in _nodes)
        {
            node.Machine.Crash();
            foreach (var life in node.Lives)
            {
                life.CleanUp();
            }
        }

        SynchronizationContext.SetSynchronizationContext(_outer);
    }

    /// <summary>What a node is started with.</summary>
    internal ProtocolOptions ProtocolOptionsOf(SimulatedMachine machine) => machine.Number % 3 == 1 ? _otherOptions : _options;

    internal bool IsSleeper(SimulatedMachine machine, string topic) => Sleepers.Contains((machine.Number, topic));

    internal Subscription NextSubscription(int node, ulong topic) => new(++_subscriptions, node, topic);

    /// <summary>Whatever a process does ends well or fails the test.</summary>
    internal void Watch(Task task) => task.ContinueWith(
        failed => _faults.Add(failed.Exception!.InnerException!),
        CancellationToken.None,
        TaskContinuationOptions.OnlyOnFaulted | TaskContinuationOptions.ExecuteSynchronously,
        TaskScheduler.Default);

    /// <summary>
    /// The same of what would continue in the thread pool outside of a simulation, as a publisher that waits for room does.
    /// </summary>
    internal void Watch(Func<Task> begin) => _scenario.Run(_ => Watch(begin()), null);

    /// <summary>A process that cannot continue ends, and is started again a moment later.</summary>
    internal void RestartSoon(SimulatedMachine machine) =>
        RestartSoon(machine, _random.Between(TimeSpan.FromMilliseconds(1), TimeSpan.FromMilliseconds(300)));

    /// <summary>The process ends after this long, and is started again a moment later.</summary>
    internal void RestartSoon(SimulatedMachine machine, TimeSpan after)
    {
        int life = machine.Lives;
        Simulation.After(after, () =>
        {
            if (machine.Lives == life && machine.IsUp)
            {
                machine.Crash();
                Simulation.After(_random.UpTo(TimeSpan.FromMilliseconds(200)), () =>
                {
                    if (!machine.IsUp)
                    {
                        machine.Restart();
                    }
                });
            }
        });
    }

    private static bool IsQuietAt(WholeNode node) =>
        node.Current.Parts.ReadMemory(quiet: true) is { RetainedBytes: 0, KeptPackets: 0, OldViews: 0 };

    // By up to thirty years, either way.
    private void SetWrong(SimulatedMachine machine)
    {
        var clocks = SeededRandom.Derive(Seed, purpose: 26, (ulong)machine.Number);
        if (Setup.Hardships.HasFlag(Hardships.YearsOff) && clocks.Chance(0.5))
        {
            machine.ClockStep = MostWrong * ((clocks.NextUnit() * 2) - 1);
        }
    }

    private string Unordered()
    {
        var apart = _nodes.Where(node => !node.IsInOrder || node.Current.Known != _nodes.Count);
        return string.Join('\n', apart.Select(node => $"{node.Machine}: {node.Wants()}"));
    }

    private void Serve(SimulatedMachine machine)
    {
        var log = LogsOf(machine).CreateLogger("service");
        var address = EndPointOf(machine);
        var options = _access is null ? _options.Service : _options.Service with { Access = _access };
        if (_lease is not null)
        {
            _ = new LeasedServer(machine, this, _lease, address, options, Make);
        }
        else
        {
            Make(_store!).Start(address);
        }

        MembershipService Make(IMembershipStore store) => new(machine.Environment, options, store, new ServiceCounters(), log);
    }

    private static IPEndPoint EndPointOf(SimulatedMachine machine) => new(machine.Address, ServicePort);

    private void Begin(SimulatedMachine machine)
    {
        if (machine.IsService)
        {
            Serve(machine);
        }
        else
        {
            Of(machine)?.Begin();
        }
    }

    private WholeNode? Of(SimulatedMachine machine) => _nodes.Find(node => node.Machine == machine);
}
