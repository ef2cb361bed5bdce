using System.Collections.Immutable;
using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Composition;
using QuickSilver.Core.Background;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Requests;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Simulation.Machines.Time;
using QuickSilver.Simulation.Topics;

namespace QuickSilver.Simulation.Machines;

// A whole node's parts over one life of a simulated node. A wait for the node continues in the same instant of
// virtual time, within the event that completed it: so a test may await the public face, as long as there is no
// synchronization context to send it elsewhere.
internal sealed class SimulatedParts(
    SimulatedEnvironment life,
    ProtocolOptions options,
    ImmutableArray<IPEndPoint> services,
    ConfigurationCache configurations,
    ILoggerFactory logs)
    : ProtocolParts(options, services, configurations, logs)
{
    // Made with the first topic.
    private TopicProtocols? _watched;

    public override INodeEnvironment Environment => life;

    /// <summary>What the simulation does with topics; null: nothing.</summary>
    public WatchedTopics.Settings? Watch { get; init; }

    public override TopicProtocols Protocols => Watch is { } watch
        ? _watched ??= base.Protocols.With(protocol => new WatchedTopics(protocol, life, watch))
        : base.Protocols;

    protected override CoreCounters CoreCounters => life.Counters;

    public override TimeProvider OutsideTime { get; } = new VirtualTimeProvider(life);

    public override TaskCreationOptions Completions => TaskCreationOptions.None;

    public override bool ResumesInContext => SoleThreadContext.IsCurrent;

    public override bool HasMeter => false;

    public override bool HandlersCanBlock => false;

    /// <summary>How many nodes the node knows, itself included, once it has joined.</summary>
    public int KnownNodes => ((MembershipClient)Membership).NodeCount;

    public override Task StopAsync()
    {
        var closed = new TaskCompletionSource();
        life.Post(new ActionRequest(() =>
        {
            Close();
            closed.SetResult();
        }));
        return closed.Task;
    }
}
