namespace QuickSilver.Multicast.Protocols;

// The protocols that a node can open topics with, by the guarantee that contracts name. NodeComposition chooses them.
internal sealed class TopicProtocols
{
    private readonly Dictionary<string, TopicProtocolFactory> _byGuarantee = new(StringComparer.Ordinal);

    private TopicProtocols(IEnumerable<TopicProtocolFactory> factories)
    {
        foreach (var factory in factories)
        {
            _byGuarantee.Add(factory.Guarantee, factory);
        }
    }

    /// <summary>The protocols that every node has.</summary>
    public static TopicProtocols BuiltIn { get; } = new([PlainTopics.Reliable, PlainTopics.BestEffort, PlainTopics.Inbox]);

    /// <summary>Adds protocols to these.</summary>
    /// <exception cref="ArgumentException">Two protocols provide the same guarantee.</exception>
    public TopicProtocols With(params TopicProtocolFactory[] more) => new(_byGuarantee.Values.Concat(more));

    /// <summary>The same protocols, with a stage between each of them and the endpoints of its topics.</summary>
    public TopicProtocols With(Func<ITopicProtocol, ITopicProtocol> stage) => new(_byGuarantee.Values.Select(
        factory => factory with { Create = context => stage(factory.Create(context)) }));

    /// <summary>The protocol of a guarantee. Can be called from any thread.</summary>
    /// <exception cref="NotSupportedException">No protocol of this node provides the guarantee.</exception>
    public TopicProtocolFactory Of(string guarantee) => _byGuarantee.TryGetValue(guarantee, out var factory)
        ? factory
        : throw new NotSupportedException(
            $"No protocol of this node provides the guarantee {guarantee}. Available guarantees: {string.Join(", ", _byGuarantee.Keys)}.");
}
