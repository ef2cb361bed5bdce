using System.Net;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Dissemination;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Reassembly;
using QuickSilver.Multicast.Receiving.Healing;
using QuickSilver.Multicast.Receiving.Ports;
using QuickSilver.Multicast.Receiving.Windows;
using QuickSilver.Multicast.Schemes;

namespace QuickSilver.Multicast.Receiving;

// What all views of which this node is a member share, and the streams in them.
internal sealed class ReceivingParts(NodeContext node, SchemeContext schemes)
{
    private DropSample _unicastDrops;

    public NodeContext Node => node;

    public SchemeContext Schemes => schemes;

    public required IRepairScheme Repair { get; init; }

    public required IStabilityScheme Stability { get; init; }

    public required INodeDissemination Dissemination { get; init; }

    /// <summary>How old a gap of a best-effort stream is when it is given up.</summary>
    public TimeSpan BestEffortPatience => schemes.BestEffortPatience;

    public ReceiveMemory Memory { get; } = new(node.Environment.Buffers, node.Options.PacketBytes, node.Environment.Heap);

    public ReassemblyBudget Reassembly => ReassemblyIfAny ??= new ReassemblyBudget(node.Environment, node.Options.ReassemblyBytes);

    /// <summary>Null until a message spans packets.</summary>
    public ReassemblyBudget? ReassemblyIfAny { get; private set; }

    public HealingBlock Healing => HealingIfAny ??= new HealingBlock(node.Environment.Buffers);

    /// <summary>Null until a packet is made of others.</summary>
    public HealingBlock? HealingIfAny { get; private set; }

    /// <summary>Gets what arrives at the ports of this node.</summary>
    public IDatagramReceiver? Receiver { get; set; }

    /// <summary>The addresses of topics at which this node receives. Null until there is one.</summary>
    public TopicPorts? TopicPorts { get; private set; }

    /// <summary>Set after the first warning, because each group would repeat it.</summary>
    public bool HasWarnedOfPorts { get; set; }

    /// <summary>
    /// The datagrams that the kernel dropped at the unicast port, where copies arrive too. The value is sampled.
    /// </summary>
    public long UnicastDrops
    {
        get
        {
            if (_unicastDrops.IsDue(node.Environment.Now))
            {
                node.Counters.KernelDrops += _unicastDrops.Note(node.ControlPort.KernelDrops);
            }

            return _unicastDrops.Drops;
        }
    }

    /// <summary>A configuration has announced topics, of which this node receives some at addresses of their own.</summary>
    public void ApplyAddresses(ConfigurationChange change, Func<ulong, IPEndPoint?> addressOf)
    {
        var news = change.Topics.Where(static view => view.Address is not null).Select(static view => view.TopicId).ToArray();
        if (TopicPorts is null && (news.Length == 0 || Receiver is null))
        {
            return;
        }

        (TopicPorts ??= new TopicPorts(this, Receiver!)).Apply(change.Number, addressOf, news);
    }
}
