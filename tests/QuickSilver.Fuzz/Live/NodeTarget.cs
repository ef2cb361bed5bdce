using System.Buffers.Binary;
using QuickSilver.Core.Wire;
using QuickSilver.Fuzz.Packets;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast;
using QuickSilver.Multicast.Dispatch;
using QuickSilver.Multicast.Hearing;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Simulation.Network;

namespace QuickSilver.Fuzz.Live;

// Three nodes that talk, and datagrams from outside between theirs. Each part of the input is a datagram: the first byte says who gets it,
// at which of its ports and from whom, the second which fields are made right before. No step of a node may throw, and memory is bounded.
// What nodes accept from members with keys is not judged here.
internal sealed class NodeTarget : FuzzTarget
{
    private const int Nodes = 3;
    private const int MostDatagrams = 64;
    private const int MostEventsPerInstant = 200_000;

    private static readonly TimeSpan Between = TimeSpan.FromMilliseconds(2);
    private static readonly TimeSpan After = TimeSpan.FromMilliseconds(300);

    [Flags]
    private enum Way : byte
    {
        Receiver = 3,
        ToGroup = 4,
        FromMissingNode = 8,
        FromReceiver = 16,
        // Otherwise time passes first.
        AtOnce = 32,
    }

    [Flags]
    private enum Right : byte
    {
        Sealed = 1,
        Sender = 2,
        View = 4,
        OldView = 8,
    }

    public override string Name => "node";

    public override IReadOnlyList<Type> Decoders { get; } =
        [typeof(MulticastNode), typeof(InboundStream), typeof(DataHandler), typeof(TopicHearing)];

    // Three nodes from their start, and what the datagrams make them do.
    public override long AllocationLimit(ReadOnlySpan<byte> input) => (64 << 20) + (1024L * input.Length);

    public override IEnumerable<Seed> Seeds()
    {
        const byte All = (byte)(Right.Sealed | Right.Sender | Right.View);
        foreach (var seed in PacketSeeds.All(new PacketTemplate(PacketTarget.Cluster, 7, 1, 0x10, 3)))
        {
            yield return new Seed(seed.Name, InputParts.Write((0, All, seed.Bytes), (1 | 32, All, seed.Bytes)));
        }

        byte[] data = PacketSeeds.Data(new PacketTemplate(0, 0, 0, 0, 0), MessageSeeds.Body(TopicId.Of(NodeCluster.Topic)), sequence: 2);
        yield return new Seed("of-topic", InputParts.Write((4, All, data), (1, All, data), (2, 1, data)));
        yield return new Seed("random", InputParts.Write((0, 0, [1, 2, 3]), (4, 0, data[..70])));
    }

    public override void Run(ReadOnlySpan<byte> input)
    {
        using var running = new NodeCluster(Nodes);
        running.Cluster.Machines.Time.MostEventsPerInstant = MostEventsPerInstant;
        var parts = new InputParts(input);
        for (int i = 0; i < MostDatagrams && parts.MoveNext(); i++)
        {
            Deliver(running, (Way)parts.First, (Right)parts.Second, parts.Bytes);
        }

        running.Cluster.Run(After);
        running.CheckMemory();
    }

    private static void Deliver(NodeCluster running, Way way, Right right, ReadOnlySpan<byte> bytes)
    {
        if (bytes.IsEmpty)
        {
            return;
        }

        if ((way & Way.AtOnce) == 0)
        {
            running.Cluster.Run(Between);
        }

        int to = (int)(way & Way.Receiver) % Nodes;
        int from = (way & Way.FromReceiver) != 0 ? to : (to + 1) % Nodes;
        if (!running.Cluster.Nodes[to].IsJoined || !running.Cluster.Nodes[from].IsJoined)
        {
            return;
        }

        byte[] datagram = MakeRight(running, to, from, way, right, bytes);
        var view = running.ViewAt(to);
        var target = (way & Way.ToGroup) != 0 && view?.Group is { } group ? group : running.EndPointOf(to);
        var network = running.Cluster.Network;
        network.Send(
            running.Cluster.Machines.Nodes[from],
            datagram,
            datagram.Length,
            Destination.Of(target.Address, target.Port),
            running.Cluster.Now);
    }

    private static byte[] MakeRight(NodeCluster running, int to, int from, Way way, Right right, ReadOnlySpan<byte> bytes)
    {
        byte[] datagram = bytes.ToArray();
        if (datagram.Length < PacketHeader.Bytes || right == 0)
        {
            return datagram;
        }

        if ((right & Right.Sender) != 0)
        {
            var sender = (way & Way.FromMissingNode) != 0 ? new NodeKey(1, 1) : running.KeyOf(from);
            BinaryPrimitives.WriteUInt64LittleEndian(datagram.AsSpan(PacketHeader.SenderOffset), sender.Id);
            BinaryPrimitives.WriteUInt32LittleEndian(datagram.AsSpan(PacketHeader.IncarnationOffset), sender.Incarnation);
        }

        if ((right & Right.View) != 0 && running.ViewAt(to) is { } view)
        {
            bool isShared = datagram[PacketHeader.KindOffset] == (byte)PacketKind.Shared;
            uint number = isShared ? 0 : (right & Right.OldView) != 0 ? view.Number - 1 : view.Number;
            BinaryPrimitives.WriteUInt64LittleEndian(datagram.AsSpan(PacketHeader.RegionOffset), view.RegionId);
            BinaryPrimitives.WriteUInt32LittleEndian(datagram.AsSpan(PacketHeader.ViewOffset), number);
        }

        NameNodes(running, to, from, datagram);
        if ((right & Right.Sealed) != 0)
        {
            Sealed.AsOf(datagram, TopicId.Of(new QuickSilverOptions().Cluster));
        }

        return datagram;
    }

    // Bodies name nodes, which have other keys in each run: 7 and 8 of the corpus stand for sender and receiver.
    private static void NameNodes(NodeCluster running, int to, int from, Span<byte> datagram)
    {
        for (int at = PacketHeader.Bytes; at + 12 <= datagram.Length; at++)
        {
            ulong id = BinaryPrimitives.ReadUInt64LittleEndian(datagram[at..]);
            if (id is 7 or 8)
            {
                var named = running.KeyOf(id == 7 ? from : to);
                BinaryPrimitives.WriteUInt64LittleEndian(datagram[at..], named.Id);
                BinaryPrimitives.WriteUInt32LittleEndian(datagram[(at + 8)..], named.Incarnation);
                at += 11;
            }
        }
    }
}
