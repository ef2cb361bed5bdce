using System.Collections.Immutable;
using System.Net;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Reachability;
using QuickSilver.Membership.Regions;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast;
using QuickSilver.Multicast.Dispatch;
using QuickSilver.Multicast.Hearing;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Multicast.Sealing;
using QuickSilver.Simulation;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Fuzz.Packets;

// The way of a received run in a node that has keys, up to the handlers: splitter, key ring and dispatcher, without the node above. No view
// is open, so data that was opened is kept. The service's port beside it.
internal sealed class SealedReceiver : IViewsObserver, IPacketHandler, IDisposable
{
    // Not at the beginning of the block, so that a mistake with offsets shows.
    private const int RunOffset = 192;

    /// <summary>Of a run.</summary>
    public const int MostBytes = SlabPool.BlockBytes - RunOffset;

    private static readonly NodeKey Self = new(8, 1);

    private readonly SimulatedMachine _machine =
        new SimulatedMachines(new SimulationOptions { Seed = 1, PoolBytes = 4 * SlabPool.BlockBytes }).AddNode();
    private readonly MulticastContext _context;
    private readonly KeyRing _keys;
    private readonly PacketDispatcher _dispatcher;
    private readonly RunSplitter _splitter;
    private readonly Lease _lease;
    private readonly RegionKeys _service;

    public SealedReceiver(bool knowsViews)
    {
        var options = new MulticastOptions { ClusterId = SealedPlaces.Cluster, IsSealed = true };
        _context = new MulticastContext(_machine.Environment, options, new NoMembership())
        {
            // Nothing is sent.
            ControlPort = null!,
            OnSenderProgress = static () => { },
            OnWait = static () => { },
        };
        var joined = new[] { Self, SealedPlaces.Sender }.Select(static (key, i) => new NodeInfo(key, new IPEndPoint(1, 9), i + 1));
        _context.Directory.Apply(new ConfigurationChange { Number = 1, IsSnapshot = true, Joined = [.. joined] }, Self);
        _context.Sending.Deaf = new DeafMembers(_context, null!, static _ => null);
        _keys = new KeyRing(_machine.Environment, options);
        _keys.Begin(_context);
        _keys.Add(SealedPlaces.ClusterKey, isOfAnother: false);
        _splitter = new RunSplitter(SealedPlaces.Cluster, _keys);
        var views = new OpenViews(_context.Receiving, _splitter, this);
        var ways = new PacketWays(_context.Sending, null!, views, null!);
        _dispatcher = new PacketDispatcher(_context, views, new DataHandler(views, ways, null!), ways) { Keys = _keys };
        foreach (var kind in PacketTarget.Kinds.Where(static kind => kind is not (PacketKind.Data or PacketKind.Shared)))
        {
            _dispatcher.Handlers.Register(kind, this, keepsEarly: true);
        }

        for (var kind = PacketKinds.FirstOfProtocols; kind <= PacketKinds.Last; kind++)
        {
            _dispatcher.Handlers.Register(kind, "a protocol", this, keepsEarly: true);
        }

        _splitter.Begin(_dispatcher);
        _lease = _machine.Environment.Buffers.TryRent()!;
        _service = RegionKeys.Draw(_machine.Environment);
        _service.RenewCluster(2);
        if (knowsViews)
        {
            LearnViews();
        }
    }

    /// <summary>What came to the handlers.</summary>
    public List<(PacketKind Kind, byte[] Body)> Handled { get; } = [];

    /// <summary>The memory in which the last run came, and was opened.</summary>
    public Span<byte> Received => _lease.Span[RunOffset..];

    public byte[] Seal(byte[] plain, Place place) =>
        SealedPlaces.Seal(plain, place, place == Place.Service ? _service.Cluster! : SealedPlaces.ClusterKey);

    /// <summary>A datagram arrives.</summary>
    /// <returns>How many packets of it were accepted.</returns>
    public int Receive(ReadOnlySpan<byte> datagram)
    {
        long before = _context.Counters.PacketsReceived;
        Deliver(_splitter, datagram);
        return (int)(_context.Counters.PacketsReceived - before);
    }

    public void LearnViews()
    {
        _keys.Add(SealedPlaces.Told);
        _dispatcher.ReplayUnknown();
    }

    /// <summary>Packets arrive at the service.</summary>
    /// <returns>How often the service has answered after each.</returns>
    public long[] AskService(params byte[][] packets)
    {
        var counters = new ServiceCounters();
        using var port = new EchoPort(_machine.Environment, SealedPlaces.ClusterName, counters, _service);
        port.Open(0);
        long[] answered = new long[packets.Length];
        for (int i = 0; i < packets.Length; i++)
        {
            Deliver(port, packets[i]);
            answered[i] = counters.EchoesAnswered;
        }

        return answered;
    }

    public void Dispose()
    {
        _dispatcher.Close();
        _keys.Dispose();
        _lease.Release();
    }

    DropReason IPacketHandler.OnPacket(in PacketHeader header, NodeKey sender)
    {
        Handled.Add((header.Kind, header.Body.ToArray()));
        return DropReason.None;
    }

    void IViewsObserver.OnViewClosed(RegionView view)
    {
    }

    void IViewsObserver.OnViewsClosed()
    {
    }

    void IViewsObserver.OnViewsChecked()
    {
    }

    private void Deliver(IDatagramReceiver receiver, ReadOnlySpan<byte> datagram)
    {
        datagram = datagram[..Math.Min(datagram.Length, MostBytes)];
        datagram.CopyTo(Received);
        _ = receiver.IsControl(datagram);
        _ = receiver.IsRepair(datagram);
        receiver.OnRun(new ReceivedRun(_lease, RunOffset, datagram.Length, null!));
        receiver.OnBatchEnd();
    }

    // Nothing that is received here concerns the membership.
    private sealed class NoMembership : IMembership
    {
        public NodeKey Self => SealedReceiver.Self;

        public bool IsReachable => true;

        public NodeRoster Roster { get; } = new SharedViews().NoNodes;

        public TopicFollows Follows { get; } = new(static _ => { });

        public void ReportSuspect(NodeKey node, string reason) => throw new NotSupportedException();

        public void Open(TopicRequest request, Action<TopicOutcome> completed) => throw new NotSupportedException();

        public void Close(ulong topicId) => throw new NotSupportedException();

        public void Confirm(long configuration, ImmutableArray<OpenView> open) => throw new NotSupportedException();

        public void GiveUp(string reason) => throw new NotSupportedException();

        public void Leave(Action completed) => throw new NotSupportedException();
    }
}
