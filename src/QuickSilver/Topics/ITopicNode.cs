using QuickSilver.Diagnostics;
using QuickSilver.Endpoints;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Publishing.Requests;
using QuickSilver.Topics.Grants;
using QuickSilver.Topics.Subscribers;

namespace QuickSilver.Topics;

// The node's interface for its topics. Core thread only, unless stated otherwise.
internal interface ITopicNode : IEndpointNode
{
    PublishBudget PublishBudget { get; }

    IMembership Membership { get; }

    /// <summary>What becomes of accepted messages that cannot be delivered.</summary>
    PublishLosses PublishLosses { get; }

    TopicRefusals Refusals { get; }

    /// <summary>Openings that differ from their topic.</summary>
    ContestedOpenings Contested { get; }

    /// <summary>What the messages of a topic that are not sent wait for, in words; null if that is unknown.</summary>
    string? WhyWaiting(ulong topicId);

    /// <summary>The protocol that implements a guarantee.</summary>
    ITopicProtocol ProtocolOf(string guarantee);

    /// <summary>What the first endpoint of the topic asked of its protocol; null: nothing.</summary>
    ProtocolSettings? SettingsOf(ulong topicId) => null;

    TopicView? ViewOf(ulong topicId);

    /// <summary>The current view of a region in which this node is, or to which it may send; null if there is none.</summary>
    RegionView? RegionOf(ulong region);

    /// <summary>Whether the node is a member of the cluster.</summary>
    bool IsMember(NodeKey node);

    /// <summary>Whether this is the key of this node.</summary>
    bool IsSelf(NodeKey node);

    /// <summary>From now on the interest is refreshed after each configuration.</summary>
    void Follow(SubscriberInterest interest);

    void Unfollow(SubscriberInterest interest);

    /// <summary>Called when a topic waits to be opened, or for subscribers: a wait that takes too long is reported.</summary>
    void OnWait();

    /// <summary>Called when an endpoint was opened.</summary>
    void OnOpened(TopicCore topic, TopicEndpoint endpoint);

    /// <summary>Called with a new sender of a topic, whose count continues where the last one ended.</summary>
    void OnCountBegins(TopicCore topic, long published);

    /// <summary>Called before the sender or the receiver of a topic is closed: its count ends with it.</summary>
    void OnCountEnds(TopicCore topic, bool isSender);

    /// <summary>Called when the topic is closed.</summary>
    void Forget(TopicCore topic);
}
