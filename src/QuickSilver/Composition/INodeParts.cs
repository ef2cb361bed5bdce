using System.Net;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast;
using QuickSilver.Multicast.Ordering.Credit;
using QuickSilver.Multicast.Protocols;

namespace QuickSilver.Composition;

// The layers below a node: its environment, its membership client and its multicast layer, which are composed elsewhere. The composition
// for a machine and that for tests differ only here.
internal interface INodeParts : INodeReports
{
    INodeEnvironment Environment { get; }

    /// <summary>Valid from Begin on; core thread only.</summary>
    IMembership Membership { get; }

    /// <summary>Valid from Begin on; core thread only.</summary>
    IMulticast Multicast { get; }

    /// <summary>The protocols that topics can be opened with. From any thread.</summary>
    TopicProtocols Protocols => TopicProtocols.BuiltIn;

    /// <summary>
    /// The clock outside the core thread. It limits the calls that must return even if a handler blocks the core thread, and it detects a
    /// blocked core thread. No protocol depends on it.
    /// </summary>
    TimeProvider OutsideTime { get; }

    /// <summary>
    /// The same, for what watches the node: its timers fire although the thread pool of the process is blocked. Each may cost a thread.
    /// </summary>
    TimeProvider WatchTime => OutsideTime;

    /// <summary>
    /// How tasks for which callers wait are completed. On a machine, their continuations run on other threads, never on the core thread. A
    /// simulation has no other threads: there they run immediately, at the same instant of virtual time; otherwise no two runs would be
    /// alike.
    /// </summary>
    TaskCreationOptions Completions => TaskCreationOptions.RunContinuationsAsynchronously;

    /// <summary>
    /// Whether an await of the node's own code continues in its caller's context. Always false on a machine, where a caller may block that
    /// context. In a simulation, true if the caller is simulated: that context is then its only thread, and the alternative would be the
    /// thread pool.
    /// </summary>
    bool ResumesInContext => false;

    /// <summary>
    /// Ends a node that did not join. On a machine, the end is waited for without a thread of the pool, which the application may block.
    /// </summary>
    Task EndStartAsync(Func<Task> end) => end();

    /// <summary>
    /// Whether the process publishes the node's counters. The counters of a simulated node belong to the test that runs it.
    /// </summary>
    bool HasMeter => true;

    /// <summary>
    /// Whether handlers can block the core thread. In a simulation no virtual time passes while a handler runs.
    /// </summary>
    bool HandlersCanBlock => true;

    /// <summary>
    /// Begins to look for the membership service. The observer is notified of each configuration after the multicast layer has applied it.
    /// Called once, on the core thread. May throw if the system refuses a port.
    /// </summary>
    void Begin(IMembershipObserver observer);

    /// <summary>The last view of a topic that the multicast layer applied. Core thread only.</summary>
    TopicView? ViewOf(ulong topicId);

    /// <summary>The last view of a region that the multicast layer applied; null if there is none. Core thread only.</summary>
    RegionView? RegionOf(ulong region) => null;

    /// <summary>Whether the node is a member of the cluster, as far as this node knows. Core thread only.</summary>
    bool IsMember(NodeKey node) => false;

    /// <summary>Closes multicast and membership, ends the core thread and frees its sockets. From any thread, once.</summary>
    Task StopAsync();
}

// What the layers below a node report of themselves, for its status, its counters and its messages. All of it may be read from any thread.
internal interface INodeReports
{
    /// <summary>The live members of the cluster that this node knows, this one included; 0 before it has joined.</summary>
    int Members => 0;

    /// <summary>What people call this node.</summary>
    string Name => "";

    /// <summary>What the nodes of the cluster are called.</summary>
    INodeNames Names => NoNodeNames.Instance;

    /// <summary>The interface of the node and why it is this one; null if it was not chosen among several.</summary>
    string? Interface => null;

    /// <summary>Why the membership service last refused this node; null if it did not.</summary>
    string? LastRefusal { get; }

    /// <summary>Why the last attempt to reach the membership service failed, while there is no service.</summary>
    string? LastFailure => null;

    /// <summary>
    /// The last failure, if the keys of this node and of the named servers do not fit; null otherwise, and where the service is discovered.
    /// It may pass: keys are replaced while both run.
    /// </summary>
    string? KeyFailure => null;

    /// <summary>Problems of the layers below that do not stop them, the oldest first.</summary>
    IReadOnlyList<Trouble> Troubles => [];

    /// <summary>The topics of this node that are held to the rate of a reader.</summary>
    IReadOnlyList<PacedTopic> Paced => [];

    /// <summary>Why datagrams do not reach or leave this node, as far as it can determine; null while they do.</summary>
    Trouble? Isolation => null;

    /// <summary>The membership service that the node has or tries to reach; null while it looks for one.</summary>
    IPEndPoint? ServiceEndPoint => null;

    /// <summary>Whether a node of the cluster hosts the membership service: none is named.</summary>
    bool IsServiceHosted => false;

    /// <summary>Why other nodes would not accept the service if this node hosted it; null: they may accept it.</summary>
    string? WhyNotHost => null;

    /// <summary>What the layers below count.</summary>
    LayerCounters Counters => LayerCounters.None;

    /// <summary>How often the thread pool of the process started no work.</summary>
    long PoolStarvations => 0;

    /// <summary>Whether the system cuts runs of packets into datagrams.</summary>
    bool IsSegmented => false;
}
