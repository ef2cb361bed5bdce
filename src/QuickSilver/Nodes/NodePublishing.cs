using QuickSilver.Core.Environment;
using QuickSilver.Diagnostics;
using QuickSilver.Publishing;
using QuickSilver.Publishing.Lane;
using QuickSilver.Publishing.Requests;

namespace QuickSilver.Nodes;

// The objects through which all topics of a node publish.
internal sealed class NodePublishing
{
    public NodePublishing(INodeEnvironment environment, long publishQueueBytes, NodeMeter? meter)
    {
        Requests = new PublishRequestPool(publishQueueBytes);
        Latency = new PublishLatency(environment, meter);
        Intake = new PublishIntake(environment, new PublishLane(publishQueueBytes), Requests);
        Budget = new PublishBudget(publishQueueBytes - Intake.Lane.CapacityBytes);
    }

    public PublishRequestPool Requests { get; }

    public PublishLatency Latency { get; }

    public PublishIntake Intake { get; }

    public PublishBudget Budget { get; }

    /// <summary>
    /// From any thread: the accepted messages that wait, in the lane and outside it. Those outside are read first, so that a message which
    /// leaves the lane for the queue of its topic is not counted twice.
    /// </summary>
    public long QueuedMessages => Requests.Waiting + Intake.Lane.Waiting;

    /// <summary>From any thread: the bytes that wait, in the lane and outside it.</summary>
    public long QueuedBytes => Budget.Used + Intake.Lane.UsedBytes;
}
