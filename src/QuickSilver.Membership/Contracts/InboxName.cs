namespace QuickSilver.Membership.Contracts;

// The names of inboxes: the topics to which other nodes send what is for one node alone. A node is named as NodeKey writes it.
internal static class InboxName
{
    /// <summary>The guarantee of inboxes: reliable, and pinned.</summary>
    public const string Guarantee = "Inbox";

    /// <summary>Why no other node may subscribe.</summary>
    public const string Rule = "the rule that only its own node may, since an inbox is for that node alone";

    private const string Prefix = "quicksilver/inbox/";

    // All endpoints of inboxes have it. With another one, another node could open the inbox first and so keep its owner out.
    private static readonly ContractDescription Contract = new()
    {
        TypeName = "bytes",
        Kind = "bytes",
        Guarantee = Guarantee,
        IsPinned = true,
    };

    public static string Of(string node) => Prefix + node;

    public static bool IsInbox(string topic) => topic.StartsWith(Prefix, StringComparison.Ordinal);

    public static bool IsInboxOf(string topic, string node) => topic.Length == Prefix.Length + node.Length
        && IsInbox(topic) && topic.EndsWith(node, StringComparison.Ordinal);

    /// <summary>Null when the topic is no inbox, or may be opened under this contract; otherwise a sentence.</summary>
    public static string? Problem(string topic, ContractDescription contract) => !IsInbox(topic) || contract.Equals(Contract)
        ? null
        : $"Topic '{topic}' is the inbox of a node, where requests are answered and states are given. Open it under another name.";
}
