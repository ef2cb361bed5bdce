using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Multicast.Protocols.Transfers;
using QuickSilver.Transfers;

namespace QuickSilver.Simulation.Tests.Clusters.Transfers;

// A protocol of tests on one node: gives the bytes that it has, and takes those of others. A position is an offset.
internal sealed class BulkNode : ITopicProtocol, ITransferSource, ITransferTaker
{
    public const string Guarantee = "Bulk";

    private readonly IProtocolNode _node;
    private readonly NodeTransfers _transfers;
    private readonly PlainTopics _topics;

    private BulkNode(IProtocolNode node)
    {
        _node = node;
        _topics = new PlainTopics(node.Multicast, new ChannelSpec { Reliability = Reliability.Reliable });
        _transfers = (NodeTransfers)node.OpenTransfers(Guarantee, this);
    }

    /// <summary>What the node has; null: nothing.</summary>
    public byte[]? Bytes { get; set; }

    /// <summary>Called before each read of what is given.</summary>
    public Func<Task> OnRead { get; set; } = static () => Task.CompletedTask;

    public List<NodeKey> Donors { get; } = [];

    public MemoryStream Taken { get; } = new();

    public Func<TransferStep> Step { get; set; } = static () => TransferStep.Take;

    public List<TransferFailure> Failures { get; } = [];

    public NodeKey Self => _node.Self;

    public ITransfer? Transfer { get; private set; }

    public int Ends { get; private set; }

    public int Open { get; private set; }

    public int Given => _transfers.Given;

    public long Malformed => _transfers.Malformed;

    /// <summary>Opens a topic of the protocol on each node of a cluster.</summary>
    public static BulkNode[] OpenAll(SimulatedCluster cluster) => [.. cluster.Nodes.Select(node => OpenOn(cluster, node))];

    public static BulkNode OpenOn(SimulatedCluster cluster, SimulatedNode node)
    {
        BulkNode? made = null;
        var choice = new ProtocolChoice(new TopicProtocolFactory(Guarantee, protocols => made = new BulkNode(protocols)));
        cluster.RunUntilCompleted(node.Node.OpenTopicAsync<string>("bulk", new TopicOptions { Protocol = choice }));
        return made!;
    }

    public void Take(params ReadOnlySpan<BulkNode> donors)
    {
        foreach (var donor in donors)
        {
            Donors.Add(donor.Self);
        }

        Transfer = _transfers.Take("all"u8, Taken.Length, "the bytes", this);
    }

    public ITopicSender OpenPublisher(in ProtocolTopic topic) => _topics.OpenPublisher(topic);

    public ITopicReceiver OpenSubscription(in ProtocolTopic topic, IDeliverySink sink) => _topics.OpenSubscription(topic, sink);

    ITransferContent? ITransferSource.Open(NodeKey taker, ReadOnlySpan<byte> subject, long from)
    {
        if (Bytes is not { } bytes || from > bytes.Length || !subject.SequenceEqual("all"u8))
        {
            return null;
        }

        Open++;
        return new Content(this, bytes, (int)from);
    }

    void ITransferTaker.AddDonors(List<NodeKey> donors) => donors.AddRange(Donors);

    TransferStep ITransferTaker.OnChunk(NodeKey donor, ReadOnlySpan<byte> chunk, long through)
    {
        var step = Step();
        if (step != TransferStep.Refuse)
        {
            Taken.Write(chunk);
        }

        return step;
    }

    void ITransferTaker.OnEnd(NodeKey donor) => Ends++;

    void ITransferTaker.OnFailed(NodeKey donor, TransferFailure failure) => Failures.Add(failure);

    private sealed class Content(BulkNode owner, byte[] bytes, int at) : ITransferContent
    {
        private int _at = at;

        public async ValueTask<TransferChunk> ReadAsync(Memory<byte> buffer)
        {
            await owner.OnRead();
            int count = Math.Min(buffer.Length, bytes.Length - _at);
            bytes.AsMemory(_at, count).CopyTo(buffer);
            _at += count;
            return new TransferChunk(count, _at);
        }

        public void Dispose() => owner.Open--;
    }
}
