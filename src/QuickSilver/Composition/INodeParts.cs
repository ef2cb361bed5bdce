using QuickSilver.Core.Environment;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast;
using QuickSilver.Multicast.Protocols;

namespace QuickSilver.Composition;

// What stands below a node: its environment, its membership and its multicast, put together elsewhere. The machine's
// composition and the tests' differ here and nowhere else.
internal interface INodeParts
{
    INodeEnvironment Environment { get; }

    /// <summary>Valid from Begin on; core thread only.</summary>
    IMembership Membership { get; }

    /// <summary>Valid from Begin on; core thread only.</summary>
    IMulticast Multicast { get; }

    /// <summary>What topics can be opened with. From any thread.</summary>
    TopicProtocols Protocols => TopicProtocols.BuiltIn;

    /// <summary>
    /// The clock outside the core thread. It bounds the calls that must come back even when a handler blocks the core
    /// thread, and judges whether the core thread turns; nothing that a protocol does depends on it.
    /// </summary>
    TimeProvider OutsideTime { get; }

    /// <summary>
    /// How what others wait for is completed. On a machine those who waited go on elsewhere, never on the core thread; a
    /// simulation has no elsewhere: there they go on at once, in the same instant of virtual time, or no run was like another.
    /// </summary>
    TaskCreationOptions Completions => TaskCreationOptions.RunContinuationsAsynchronously;

    /// <summary>
    /// Whether what the node itself awaits now goes on in its caller's context. Never on a machine, where a caller may block that
    /// context. In a simulation where the caller is simulated: that context is its one thread, and the alternative the pool.
    /// </summary>
    bool ResumesInContext => false;

    /// <summary>Whether the node's counters are the process's to publish. A simulated node's are the test's that runs it.</summary>
    bool HasMeter => true;

    /// <summary>
    /// Begins to look for the membership service. The observer is told of each configuration after multicast has applied it.
    /// Called once, on the core thread. May throw when the system refuses a port.
    /// </summary>
    void Begin(IMembershipObserver observer);

    /// <summary>The last view of a topic that multicast applied. Core thread only.</summary>
    TopicView? ViewOf(ulong topicId);

    /// <summary>Why the membership service refused this node last, if it did; from any thread.</summary>
    string? LastRefusal { get; }

    /// <summary>Why the last attempt to reach the membership service came to nothing, while there is none; from any thread.</summary>
    string? LastFailure => null;

    /// <summary>What ails the layers below though they go on, in a sentence; null: nothing does. From any thread.</summary>
    string? Trouble => null;

    /// <summary>Why datagrams do not pass at this node, as far as it can tell; null while they do. From any thread.</summary>
    string? Isolation => null;

    /// <summary>The counters of the layers below, from any thread.</summary>
    PartsCounters ReadCounters();

    /// <summary>Closes multicast and membership, ends the core thread and frees its sockets. From any thread, once.</summary>
    Task StopAsync();
}

// What the layers below have counted, as the public counters name it.
internal readonly record struct PartsCounters
{
    public long PacketsSent { get; init; }
    public long PacketsReceived { get; init; }
    public long PacketsDropped { get; init; }
    public long Repairs { get; init; }
    public long Stalls { get; init; }
    public long KernelDrops { get; init; }
    public long UnackedBytes { get; init; }
    public long Regions { get; init; }
    public long CopiesSent { get; init; }
    public long UnheardSenders { get; init; }
    public long DeafMembers { get; init; }
    public bool IsSegmented { get; init; }
}
