namespace QuickSilver.Membership.Contracts;

[Flags]
internal enum TopicRole
{
    None = 0,
    Publish = 1,
    Subscribe = 2,
}

// What a node asks for: a topic, with this access, under this contract.
internal sealed record TopicRequest
{
    public required string Name { get; init; }
    public required ulong TopicId { get; init; }
    public required TopicRole Role { get; init; }
    public required ContractDescription Contract { get; init; }
}
