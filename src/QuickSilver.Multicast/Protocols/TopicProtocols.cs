namespace QuickSilver.Multicast.Protocols;

// The protocols that a node can open topics with, by the guarantee that contracts name. Composition chooses them.
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

    /// <summary>Those that every node has.</summary>
    public static TopicProtocols BuiltIn { get; } = new([PlainTopics.Reliable, PlainTopics.BestEffort]);

    /// <summary>These and more.</summary>
    /// <exception cref="ArgumentException">Two serve one guarantee.</exception>
    public TopicProtocols With(params TopicProtocolFactory[] more) => new(_byGuarantee.Values.Concat(more));

    /// <summary>From any thread.</summary>
    /// <exception cref="NotSupportedException">No protocol of this node serves the guarantee.</exception>
    public TopicProtocolFactory Of(string guarantee) => _byGuarantee.TryGetValue(guarantee, out var factory)
        ? factory
        : throw new NotSupportedException(
            $"No protocol of this node provides the guarantee {guarantee}. Available guarantees: {string.Join(", ", _byGuarantee.Keys)}.");
}
