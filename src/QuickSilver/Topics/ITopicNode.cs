using Microsoft.Extensions.Logging;
using QuickSilver.Endpoints;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Publishing;

namespace QuickSilver.Topics;

// A node as its topics know it. Core thread only, where nothing else is said.
internal interface ITopicNode : IEndpointNode
{
    ILogger Log { get; }

    PublishBudget PublishBudget { get; }

    IMembership Membership { get; }

    /// <summary>What carries the topics of a guarantee.</summary>
    ITopicProtocol ProtocolOf(string guarantee);

    TopicView? ViewOf(ulong topicId);

    /// <summary>A topic waits to be open: what takes too long is named.</summary>
    void OnWait();

    /// <summary>The topic is closed.</summary>
    void Forget(TopicCore topic);

    /// <summary>From any thread: waits for what the core thread will complete, unless it has ended.</summary>
    Task UntilEndedAsync(Task task, CancellationToken cancellationToken);
}
