using Microsoft.Extensions.Logging;
using QuickSilver.Core.Environment;
using QuickSilver.Diagnostics;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Publishing;
using QuickSilver.Publishing.Lane;
using QuickSilver.Publishing.Requests;

namespace QuickSilver.Endpoints;

// The node's interface for its endpoints. Can be used from any thread, except the counters, which the core thread writes.
internal interface IEndpointNode
{
    INodeEnvironment Environment { get; }

    /// <summary>The time provider for limits on waits for the core thread.</summary>
    TimeProvider OutsideTime { get; }

    TaskCreationOptions Completions { get; }

    /// <summary>Whether awaits of the node's own code continue in the caller's context. Read again for each await.</summary>
    bool ResumesInContext { get; }

    ILogger Log { get; }

    /// <summary>What the nodes of the cluster are called.</summary>
    INodeNames Names => NoNodeNames.Instance;

    /// <summary>A node as a person reads it.</summary>
    NamedNode Named(NodeId node) => Names.Named(node);

    NodeCounterCells CounterCells { get; }

    /// <summary>What is wrong with what endpoints do. Only the core thread begins and ends it.</summary>
    Troubles Troubles { get; }

    PublishRequestPool Requests { get; }

    PublishIntake Intake { get; }

    PublishLatency Latency { get; }

    /// <summary>The endpoints that must end with the node.</summary>
    EndpointRegistry EndpointRegistry { get; }

    /// <summary>Cancelled when the core thread has ended.</summary>
    CancellationToken Ended { get; }

    /// <summary>From here on, handlers are called on the core thread, and may block it.</summary>
    void WatchHandlers()
    {
    }

    /// <summary>Runs the action on the core thread, after the actions that were passed to it before.</summary>
    void Run(Action action);

    /// <summary>Waits for a task that the core thread will complete. Throws if the core thread ends.</summary>
    Task UntilEndedAsync(Task task, CancellationToken cancellationToken);
}
