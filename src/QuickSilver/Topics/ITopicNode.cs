using QuickSilver.Endpoints;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Publishing;

namespace QuickSilver.Topics;

// The node's interface for its topics. Core thread only, unless stated otherwise.
internal interface ITopicNode : IEndpointNode
{
    PublishBudget PublishBudget { get; }

    IMembership Membership { get; }

    /// <summary>The protocol that implements a guarantee.</summary>
    ITopicProtocol ProtocolOf(string guarantee);

    TopicView? ViewOf(ulong topicId);

    /// <summary>Called when a topic waits to be opened: a wait that takes too long is reported.</summary>
    void OnWait();

    /// <summary>Called when the topic is closed.</summary>
    void Forget(TopicCore topic);

    /// <summary>From any thread: waits for a task that the core thread will complete. Throws if the core thread ends.</summary>
    Task UntilEndedAsync(Task task, CancellationToken cancellationToken);
}
