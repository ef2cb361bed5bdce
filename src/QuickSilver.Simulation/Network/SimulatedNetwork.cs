using QuickSilver.Core.Buffers;
using QuickSilver.Core.Transport.Datagrams;
using QuickSilver.Simulation.Machines;
using QuickSilver.Simulation.Machines.Time;
using QuickSilver.Simulation.Network;
using QuickSilver.Simulation.Network.Streams;

namespace QuickSilver.Simulation;

// Says whether a datagram is to vanish on a link; for tests that must lose one certain packet.
internal delegate bool DatagramFilter(SimulatedLink link, ReadOnlySpan<byte> datagram);

/// <summary>
/// The network between the nodes of a <see cref="SimulatedCluster"/>: a link for each direction between two of them, and
/// partitions. Used by code that the simulation runs, or between two runs. Nodes are named by their numbers;
/// <see cref="SimulatedCluster.Service"/> is the number of the membership service's own machine.
/// </summary>
public sealed class SimulatedNetwork
{
    /// <summary>How long a stream lives without hearing of its peer.</summary>
    internal static readonly TimeSpan StreamTimeout = TimeSpan.FromSeconds(15);

    internal static readonly TimeSpan LoopbackDelay = TimeSpan.FromMicroseconds(5);

    private readonly SimulatedMachines _cluster;
    private readonly SeededRandom _random;
    private readonly List<LinkRow> _links = [];
    private readonly Dictionary<ulong, List<SimulatedMachine>> _groups = [];
    private readonly Stack<Arrival> _spareArrivals = new();

    internal SimulatedNetwork(SimulatedMachines cluster)
    {
        _cluster = cluster;
        _random = SeededRandom.Derive(cluster.Options.Seed, purpose: 3, owner: 0);
        Model = cluster.Options.Link;
        Air = cluster.Options.SharesPacketMemory ? new RunMemory(new SlabPool(long.MaxValue)) : null;
    }

    /// <summary>
    /// How all links behave that have no model of their own. May be changed at any time; begins as <see cref="Baseline"/>.
    /// </summary>
    public LinkModel Model
    {
        get;
        set
        {
            ArgumentNullException.ThrowIfNull(value);
            field = value;
        }
    }

    /// <summary>What <see cref="Heal"/> goes back to: <see cref="SimulationOptions.Link"/>.</summary>
    public LinkModel Baseline => _cluster.Options.Link;

    internal DatagramFilter? Filter { get; set; }

    /// <summary>Datagrams that reached a node on which no port was open for them.</summary>
    internal long Undeliverable { get; private set; }

    /// <summary>
    /// Datagrams that a repair protocol may have had to act on, one for each receiver: lost on a link or at a full receive
    /// buffer, held back while others overtook them, or not sent for want of room; and lies, for what they say is lacking.
    /// </summary>
    public long Disturbed { get; internal set; }

    /// <summary>Where datagrams under way lie, when receivers share the memory; null: each receiver has a copy of its own.</summary>
    internal RunMemory? Air { get; }

    /// <summary>What an attacker on the network has recorded of sealed packets.</summary>
    internal CapturedPackets Captures { get; } = new();

    internal ulong Seed => _cluster.Options.Seed;

    internal TimeSpan Now => _cluster.Time.Now;

    /// <summary>When what is sent now reaches its links: not before its machine has done with it.</summary>
    internal TimeSpan Leaves { get; private set; }

    internal VirtualTime Time => _cluster.Time;

    internal SeededRandom Random => _random;

    /// <summary>One direction between two nodes, or of a node with itself.</summary>
    /// <exception cref="ArgumentOutOfRangeException">There is no node of such a number.</exception>
    public SimulatedLink Link(int from, int to)
    {
        Check(from);
        Check(to);
        while (_links.Count <= from)
        {
            _links.Add(new LinkRow());
        }

        var row = _links[from];
        if (row.Find(to) is not { } link)
        {
            link = new SimulatedLink(this, _cluster.Nodes[from], _cluster.Nodes[to]);
            row.Add(to, link, _cluster.Nodes.Count);
        }

        return link;
    }

    /// <summary>
    /// Cuts both directions between each node of one side and each of the other. Streams that are cut wait, and break after 15 s.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">There is no node of such a number.</exception>
    public void Partition(IReadOnlyList<int> side, IReadOnlyList<int> other)
    {
        BlockOneWay(side, other);
        BlockOneWay(other, side);
    }

    /// <summary>Cuts one direction: what <paramref name="from"/> sends does not reach <paramref name="to"/>.</summary>
    /// <exception cref="ArgumentOutOfRangeException">There is no node of such a number.</exception>
    public void BlockOneWay(IReadOnlyList<int> from, IReadOnlyList<int> to)
    {
        foreach (int one in from)
        {
            foreach (int another in to)
            {
                if (one != another)
                {
                    Link(one, another).IsBlocked = true;
                }
            }
        }
    }

    /// <summary>Ends all partitions; links behave as before them.</summary>
    public void Reconnect()
    {
        foreach (var row in _links)
        {
            foreach (var link in row.Links)
            {
                link.IsBlocked = false;
            }
        }
    }

    /// <summary>Ends all partitions and sets every link back to <see cref="Baseline"/>.</summary>
    public void Heal()
    {
        Reconnect();
        Model = Baseline;
        Filter = null;
        foreach (var row in _links)
        {
            foreach (var link in row.Links)
            {
                link.SetModel(null);
            }
        }
    }

    /// <summary>
    /// Breaks every stream (to the membership service) between two nodes, or of one node with all when they are the same; both
    /// sides are notified.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">There is no node of such a number.</exception>
    public void BreakStreams(int one, int other)
    {
        Check(one);
        Check(other);
        foreach (var connection in _cluster.Nodes[one].Life?.Endpoints.Connections.ToArray() ?? [])
        {
            if (one == other || connection.Joins(_cluster.Nodes[one], _cluster.Nodes[other]))
            {
                connection.Break("the connection was broken");
            }
        }
    }

    /// <summary>Takes a machine's interface down until its model says that it is back; streams break after 15 s.</summary>
    internal void TakeOffline(SimulatedMachine machine)
    {
        machine.Faults.IsOffline = true;
        BreakStreamsLater(machine);
    }

    /// <summary>Nothing passes between a machine and others: streams break after 15 s unless something does by then.</summary>
    internal void BreakStreamsLater(SimulatedMachine machine)
    {
        foreach (var connection in machine.Life?.Endpoints.Connections.ToArray() ?? [])
        {
            _cluster.After(StreamTimeout, () =>
            {
                if (machine.Faults.IsOffline || machine.HasNoAddress)
                {
                    connection.Break(SimulatedConnection.Timeout());
                }
            });
        }
    }

    /// <summary>The machine is in no group any more, although its ports are open: until they are opened or joined again.</summary>
    internal void LeaveAll(SimulatedMachine machine)
    {
        foreach (var (group, members) in _groups.ToArray())
        {
            if (members.Remove(machine) && members.Count == 0)
            {
                _groups.Remove(group);
            }
        }
    }

    /// <summary>The node that has this address, seen from another; null when none has.</summary>
    internal SimulatedMachine? Find(uint addressBits, SimulatedMachine from)
    {
        if (Destination.IsLoopback(addressBits))
        {
            return from;
        }

        int number = (int)(addressBits & 0xFFFFFF) - 1;
        return number >= 0 && number < _cluster.Nodes.Count && _cluster.Nodes[number] is var node && node.AddressBits == addressBits
            ? node
            : null;
    }

    internal void Join(in Destination group, SimulatedMachine node)
    {
        if (!_groups.TryGetValue(group.Key, out var members))
        {
            _groups[group.Key] = members = [];
        }

        if (!members.Contains(node))
        {
            members.Add(node);
        }
    }

    internal void Leave(in Destination group, SimulatedMachine node)
    {
        if (_groups.TryGetValue(group.Key, out var members) && members.Remove(node) && members.Count == 0)
        {
            _groups.Remove(group.Key);
        }
    }

    internal void Send(SimulatedMachine from, ReadOnlySpan<byte> run, int segmentBytes, in Destination destination, TimeSpan leaves)
    {
        Leaves = leaves;
        var segments = new FlightSegments(new Flight(run, Air), 0, run.Length, segmentBytes);
        if (!destination.IsGroup)
        {
            if (Find(destination.AddressBits, from) is { } target)
            {
                Link(from.Number, target.Number).Carry(segments, destination with { AddressBits = target.AddressBits });
            }
            else
            {
                Undeliverable += segments.Count;
            }
        }
        else if (_groups.TryGetValue(destination.Key, out var members))
        {
            foreach (var member in members)
            {
                Link(from.Number, member.Number).Carry(segments, destination);
            }
        }

        segments.Flight.Release();
    }

    internal void Arrive(SimulatedMachine node, TimeSpan at, in FlightSegments segments, in Destination destination)
    {
        if (!_spareArrivals.TryPop(out var arrival))
        {
            arrival = new Arrival(this);
        }

        arrival.Set(node, segments, destination);
        _cluster.Time.At(at, arrival);
    }

    internal bool Drops(SimulatedLink link, ReadOnlySpan<byte> datagram) => Filter is { } filter && filter(link, datagram);

    internal void OnBlocked(SimulatedLink link)
    {
        int block = link.BlockNumber;
        foreach (var node in new[] { link.From, link.To })
        {
            foreach (var connection in node.Life?.Endpoints.Connections ?? [])
            {
                if (connection.Joins(link.From, link.To))
                {
                    _cluster.After(StreamTimeout, () => BreakIfStillBlocked(link, block, connection));
                }
            }
        }
    }

    private void Check(int number)
    {
        if ((uint)number >= (uint)_cluster.Nodes.Count)
        {
            throw new ArgumentOutOfRangeException(nameof(number), number, $"Nodes are numbered from 0 to {_cluster.Nodes.Count - 1}.");
        }
    }

    private static void BreakIfStillBlocked(SimulatedLink link, int block, SimulatedConnection connection)
    {
        if (link.IsBlocked && link.BlockNumber == block)
        {
            connection.Break(SimulatedConnection.Timeout());
        }
    }

    // At the destination's network card: a matter of the machine, so a paused process does not delay it.
    private sealed class Arrival(SimulatedNetwork network) : VirtualEvent
    {
        private SimulatedMachine? _node;
        private FlightSegments _segments;
        private Destination _destination;

        internal void Set(SimulatedMachine node, in FlightSegments segments, in Destination destination)
        {
            _node = node;
            _segments = segments;
            _destination = destination;
        }

        internal override void Fire()
        {
            if (_node!.Faults.IsDeaf)
            {
                network.Disturbed += _segments.Count;
            }
            else if (_node.Life is not { } life || !life.Endpoints.Receive(_segments, _destination))
            {
                network.Undeliverable += _segments.Count;
            }

            _segments.Flight.Release();
            _segments = default;
            network._spareArrivals.Push(this);
        }
    }
}
