using QuickSilver.Core.Environment;
using QuickSilver.Diagnostics;
using QuickSilver.Publishing;

namespace QuickSilver.Endpoints;

// A node as its endpoints know it. From any thread, except the counters, which the core thread writes.
internal interface IEndpointNode
{
    INodeEnvironment Environment { get; }

    /// <summary>For limits on what waits for the core thread.</summary>
    TimeProvider OutsideTime { get; }

    TaskCreationOptions Completions { get; }

    /// <summary>For every await of the node's own, asked anew each time.</summary>
    bool ResumesInContext { get; }

    NodeCounterCells CounterCells { get; }

    PublishRequestPool Requests { get; }

    PublishIntake Intake { get; }

    PublishLatency Latency { get; }

    /// <summary>Those that must end with the node.</summary>
    EndpointRegistry EndpointRegistry { get; }

    /// <summary>Cancelled when the core thread runs no more.</summary>
    CancellationToken Ended { get; }

    /// <summary>Does this on the core thread, after what was handed to it before.</summary>
    void Run(Action action);
}
