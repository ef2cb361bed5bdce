using Microsoft.Extensions.Logging;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Transport.Tls;
using QuickSilver.Membership.Regions.Sets;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Protocols;

namespace QuickSilver.Composition;

// What the layers below a node need beside its options: what the process has, and what tests and experiments change.
internal sealed record ProtocolSetup
{
    /// <summary>What the process shows and trusts, and then packets are sealed; null: it is not protected.</summary>
    public IStreamCredentials? Credentials { get; init; }

    /// <summary>
    /// Where a service that the process hosts records admitted and refused nodes, and what the program's rules of access throw.
    /// </summary>
    public ILoggerFactory? Logs { get; init; }

    /// <summary>The ports that the system assigns to sockets that request any port; null: not known.</summary>
    public EphemeralPorts? Ephemeral { get; init; }

    /// <summary>The protocols that topics can be opened with.</summary>
    public TopicProtocols Protocols { get; init; } = TopicProtocols.BuiltIn;

    /// <summary>Whether packets are sealed without credentials. For simulations.</summary>
    public bool IsSealed { get; init; }

    /// <summary>How many packets are sealed under one subkey; null: the default. For tests.</summary>
    public long? PacketsPerKeyEpoch { get; init; }

    /// <summary>How many sends of a message make its topic get an address of its own; null: the default. For tests.</summary>
    public int? LeastSends { get; init; }

    /// <summary>The bytes that messages that span packets may take; null: the default. For tests.</summary>
    public long? ReassemblyBytes { get; init; }

    /// <summary>How a service that this node hosts partitions topics into sets; null: the default.</summary>
    public TopicSetRules? TopicSets { get; init; }

    public Experiments Experiments { get; init; } = new();
}
