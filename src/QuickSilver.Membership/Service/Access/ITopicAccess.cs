namespace QuickSilver.Membership.Service.Access;

// Who may publish and subscribe to which topics. Asked on the service's core thread; the answer to a question does not change while a
// service lives.
internal interface ITopicAccess
{
    /// <summary>Where the rules are, for whoever is denied something.</summary>
    string Source { get; }

    /// <summary>Whether there is a rule of who may publish in the topic. Where there is none, everybody may.</summary>
    bool IsRestricted(string topic);

    /// <summary>
    /// What the topic has in common with topics of which the same identities may subscribe; null: everybody may, or it is not known without
    /// asking for each identity.
    /// </summary>
    string? EnclosureOf(string topic);

    bool MayPublish(string identity, string topic);

    bool MaySubscribe(string identity, string topic);
}
