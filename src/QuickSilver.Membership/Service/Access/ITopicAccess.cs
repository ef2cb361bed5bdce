namespace QuickSilver.Membership.Service.Access;

// The rights to publish and subscribe to topics. Asked on the service's core thread. The answer to a question does not change while a
// service lives.
internal interface ITopicAccess
{
    /// <summary>The source of the rules, for messages to those that are denied something.</summary>
    string Source { get; }

    /// <summary>Whether a rule limits who may publish in the topic. Without a rule, every node may.</summary>
    bool IsRestricted(string topic);

    /// <summary>
    /// What the topic has in common with topics of which the same identities may subscribe; null: everybody may, or it is not known without
    /// asking for each identity.
    /// </summary>
    string? EnclosureOf(string topic);

    bool MayPublish(string identity, string topic);

    bool MaySubscribe(string identity, string topic);
}
