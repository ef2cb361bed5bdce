using QuickSilver.Membership.Contracts;

namespace QuickSilver;

/// <summary>
/// The rights of identities to publish and subscribe to topics. A program that hosts the membership service implements it and sets
/// <see cref="EmbeddedServiceOptions.Rights"/>.
/// </summary>
/// <remarks>
/// Called on the core thread of the service, so it must not block. The service asks about an identity and a topic when a node opens the
/// topic, and about all identities of the cluster when a topic is first opened. The answers must not change while the service runs. If a
/// method throws, the identity does not have the right, and the exception is logged (event 1218).
/// </remarks>
public interface ITopicRights
{
    /// <summary>Whether an identity may publish in a topic.</summary>
    /// <param name="identity">
    /// The name of the secret with which the node has joined, or the common name of its certificate.
    /// </param>
    /// <param name="topic">The name of the topic.</param>
    bool MayPublish(string identity, string topic);

    /// <summary>Whether an identity may subscribe to a topic.</summary>
    /// <param name="identity">As for <see cref="MayPublish"/>.</param>
    /// <param name="topic">The name of the topic.</param>
    bool MaySubscribe(string identity, string topic);
}

/// <summary>
/// The exception that is thrown when the rules of the membership service do not let this node open a topic so, or when the topic is the
/// inbox of another node. The message names the right and where the rule is.
/// </summary>
public sealed class TopicAccessDeniedException : QuickSilverException
{
    internal TopicAccessDeniedException(string topic, string identity, string refusal)
        : base($"{refusal.TrimEnd('.')}. {Advice(refusal)}")
    {
        Topic = topic;
        Identity = identity;
    }

    private static string Advice(string refusal) => refusal.Contains(InboxName.Rule, StringComparison.Ordinal)
        ? "Use requests or states, which send a node what is for it alone."
        : "Change the rule there, or open the topic with another identity or to do less.";

    /// <summary>The name of the topic.</summary>
    public string Topic { get; }

    /// <summary>The identity of this node, as the membership service knows it.</summary>
    public string Identity { get; }
}
