namespace QuickSilver.Multicast.Protocols;

// The protocols that a node can open topics with from its start, by the guarantee that contracts name, and the stages that a composition
// puts in front of each protocol of the node. Others are registered with the node when they are first used. Never changes.
internal sealed class TopicProtocols
{
    private readonly Dictionary<string, TopicProtocolFactory> _byGuarantee = new(StringComparer.Ordinal);
    private readonly Func<ITopicProtocol, ITopicProtocol>? _stage;

    private TopicProtocols(IEnumerable<TopicProtocolFactory> factories, Func<ITopicProtocol, ITopicProtocol>? stage = null)
    {
        _stage = stage;
        foreach (var factory in factories)
        {
            _byGuarantee.Add(factory.Guarantee, factory);
        }
    }

    /// <summary>The protocols that every node has.</summary>
    public static TopicProtocols BuiltIn { get; } = new([PlainTopics.Reliable, PlainTopics.BestEffort, PlainTopics.Inbox]);

    /// <summary>The guarantees of these protocols.</summary>
    public IEnumerable<string> Guarantees => _byGuarantee.Keys;

    /// <summary>Adds protocols to these.</summary>
    /// <exception cref="ArgumentException">Two protocols provide the same guarantee.</exception>
    public TopicProtocols With(params TopicProtocolFactory[] more) => new(_byGuarantee.Values.Concat(more), _stage);

    /// <summary>The same protocols, with a stage between each protocol of the node and the endpoints of its topics.</summary>
    public TopicProtocols With(Func<ITopicProtocol, ITopicProtocol> stage) =>
        new(_byGuarantee.Values, _stage is { } inner ? protocol => stage(inner(protocol)) : stage);

    /// <summary>The protocol of a guarantee; null if none of these provides it.</summary>
    public TopicProtocolFactory? Find(string guarantee) => _byGuarantee.GetValueOrDefault(guarantee);

    /// <summary>Creates a protocol, one of these or another, with the stages in front of it.</summary>
    public ITopicProtocol Create(TopicProtocolFactory factory, IProtocolNode node)
    {
        var protocol = factory.Create(node);
        return _stage is null ? protocol : _stage(protocol);
    }
}
