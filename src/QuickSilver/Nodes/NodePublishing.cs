using QuickSilver.Core.Environment;
using QuickSilver.Diagnostics;
using QuickSilver.Publishing;

namespace QuickSilver.Nodes;

// What a node's topics publish through, in common.
internal sealed class NodePublishing
{
    public NodePublishing(INodeEnvironment environment, long publishQueueBytes, NodeMeter? meter)
    {
        Requests = new PublishRequestPool(publishQueueBytes);
        Latency = new PublishLatency(environment, meter?.PublishToStable);
        Intake = new PublishIntake(environment, new PublishLane(publishQueueBytes), Requests);
        Budget = new PublishBudget(publishQueueBytes - Intake.Lane.CapacityBytes);
    }

    public PublishRequestPool Requests { get; }

    public PublishLatency Latency { get; }

    public PublishIntake Intake { get; }

    public PublishBudget Budget { get; }

    /// <summary>From any thread: what waits, in the lane and past it.</summary>
    public long QueuedBytes => Budget.Used + Intake.Lane.UsedBytes;
}
