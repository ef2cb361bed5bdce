using System.Buffers.Binary;
using System.Net;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Dispatch;
using QuickSilver.Multicast.Hearing;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Dispatch;

// The way from a received run to the handlers. Announcements have a handler that keeps early packets, tokens one that does not, pulls none.
// Data goes to the real handler.
internal sealed class DispatchBench : IViewsObserver
{
    public const ulong Cluster = 7;
    public const ulong Region = 1;
    public const uint View = 3;
    private const ulong Topic = 5;

    public static readonly NodeKey Self = new(1, 1);
    public static readonly NodeKey Sender = new(2, 5);

    // Not at the beginning of the block, so that a mistake with offsets shows.
    private const int RunOffset = 192;

    public DispatchBench(MulticastOptions? options = null)
    {
        options ??= new MulticastOptions { ClusterId = Cluster };
        Context = new MulticastContext(Environment, options, new RecordingMembership(Self))
        {
            ControlPort = Port,
            OnSenderProgress = static () => { },
            OnWait = static () => { },
        };
        var endPoint = new IPEndPoint(IPAddress.Loopback, 9);
        var joined = new[] { new NodeInfo(Self, endPoint, 1), new NodeInfo(Sender, endPoint, 2) };
        Context.Directory.Apply(new ConfigurationChange { Number = 1, IsSnapshot = true, Joined = [.. joined] }, Self);
        Context.Sending.Deaf = new DeafMembers(Context, Port, static _ => null);
        Splitter = new RunSplitter(Cluster);
        Views = new OpenViews(Context.Receiving, Splitter, this);
        // No hearing notices arrive here, which are all that needs the node.
        var ways = new PacketWays(Context.Sending, null!, Views, Port);
        Dispatcher = new PacketDispatcher(Context, Views, new DataHandler(Views, ways, Consumer), ways);
        Dispatcher.Handlers.Register(PacketKind.Announce, Announcements, keepsEarly: true);
        Dispatcher.Handlers.Register(PacketKind.Token, Tokens);
        Splitter.Begin(Dispatcher);
    }

    public HandDrivenEnvironment Environment { get; } = new();

    public RecordingPort Port { get; } = new();

    public RecordingConsumer Consumer { get; } = new();

    public MulticastContext Context { get; }

    public OpenViews Views { get; }

    public RunSplitter Splitter { get; }

    public PacketDispatcher Dispatcher { get; }

    public RecordingHandler Announcements { get; } = new();

    public RecordingHandler Tokens { get; } = new();

    public MulticastCounters Counters => Context.Counters;

    public long LeasedBlocks => Environment.Buffers.LeasedBlocks;

    public void OpenView() => Views.Open(
        new RegionView { RegionId = Region, Number = View, Configuration = 1, Group = null, Members = [Self, Sender] }, Consumer);

    /// <summary>A valid packet of this length.</summary>
    public static byte[] Packet(PacketKind kind, long sequence, int bytes = 100, ulong cluster = Cluster)
    {
        var packet = new byte[bytes];
        var template = new PacketTemplate(cluster, Sender.Id, Sender.Incarnation, Region, View);
        template.Write(packet, kind, PacketFlags.None, sequence, 0, 0);
        if (kind == PacketKind.Data)
        {
            int payload = bytes - PacketHeader.Bytes - MessageHeader.Bytes;
            MessageHeader.Write(packet.AsSpan(PacketHeader.Bytes), payload, MessageMarks.None, Topic, sequence);
        }
        else
        {
            packet.AsSpan(PacketHeader.Bytes).Fill((byte)sequence);
        }

        PacketTemplate.Seal(packet);
        return packet;
    }

    public static byte[] Announcement(long sequence, int bytes = 100) => Packet(PacketKind.Announce, sequence, bytes);

    /// <summary>The packet with its last byte changed on the way.</summary>
    public static byte[] Damaged(byte[] packet)
    {
        packet[^1] ^= 1;
        return packet;
    }

    /// <summary>The packet with another length in its header.</summary>
    public static byte[] Stating(byte[] packet, int length)
    {
        BinaryPrimitives.WriteUInt16LittleEndian(packet.AsSpan(PacketHeader.LengthOffset), (ushort)length);
        return packet;
    }

    /// <summary>The packets arrive, one behind the other in one buffer.</summary>
    public void Receive(params byte[][] packets) => Receive(Splitter, packets);

    public void Receive(IDatagramReceiver receiver, params byte[][] packets)
    {
        var lease = Environment.Buffers.TryRent()!;
        int length = 0;
        foreach (byte[] packet in packets)
        {
            packet.CopyTo(lease.Span[(RunOffset + length)..]);
            length += packet.Length;
        }

        try
        {
            receiver.OnRun(new ReceivedRun(lease, RunOffset, length, Port));
        }
        finally
        {
            // What is kept of a run must not need its block.
            lease.Span.Slice(RunOffset, length).Clear();
            lease.Release();
        }
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

    // Keeps what it is handed, and answers as the test says.
    internal sealed class RecordingHandler : IPacketHandler
    {
        public Func<DropReason> Answer { get; set; } = static () => DropReason.None;

        public List<(long Sequence, NodeKey Sender, byte[] Body)> Packets { get; } = [];

        public IEnumerable<long> Sequences => Packets.Select(static packet => packet.Sequence);

        public DropReason OnPacket(in PacketHeader header, NodeKey sender)
        {
            Packets.Add((header.Sequence, sender, header.Body.ToArray()));
            return Answer();
        }
    }
}
