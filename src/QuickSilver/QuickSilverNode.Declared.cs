using QuickSilver.Topics.Declarations;

namespace QuickSilver;

// Topics that are declared at their payload types.
public sealed partial class QuickSilverNode
{
    /// <summary>Opens the topic that the payload type declares with <see cref="TopicAttribute"/>, to publish and to subscribe.</summary>
    /// <exception cref="InvalidOperationException">The type declares no topic, or one with an invalid name.</exception>
    /// <exception cref="ArgumentException">
    /// The options have another guarantee than the one that the type declares, or the codec of another type.
    /// </exception>
    /// <inheritdoc cref="OpenTopicAsync{T}(string, TopicOptions?, CancellationToken)"/>
    public Task<ITopic<T>> OpenTopicAsync<T>(TopicOptions? options = null, CancellationToken cancellationToken = default) =>
        OpenTopicAsync<T>(DeclaredTopic.NameOf<T>(), options, cancellationToken);

    /// <summary>
    /// Opens the topic that the payload type declares with <see cref="TopicAttribute"/>, to publish only. This node receives none of its
    /// messages for this endpoint.
    /// </summary>
    /// <inheritdoc cref="OpenTopicAsync{T}(TopicOptions?, CancellationToken)"/>
    public Task<ITopicPublisher<T>> OpenPublisherAsync<T>(TopicOptions? options = null, CancellationToken cancellationToken = default) =>
        OpenPublisherAsync<T>(DeclaredTopic.NameOf<T>(), options, cancellationToken);

    /// <summary>Opens the topic that the payload type declares with <see cref="TopicAttribute"/>, to subscribe only.</summary>
    /// <inheritdoc cref="OpenTopicAsync{T}(TopicOptions?, CancellationToken)"/>
    public Task<ITopicSubscriber<T>> OpenSubscriberAsync<T>(TopicOptions? options = null, CancellationToken cancellationToken = default) =>
        OpenSubscriberAsync<T>(DeclaredTopic.NameOf<T>(), options, cancellationToken);

    /// <summary>
    /// Reads the topic that the payload type declares with <see cref="TopicAttribute"/>, without an endpoint to keep: opens it to
    /// subscribe when the stream is enumerated, reads its messages as they arrive, and closes it when the enumeration stops.
    /// </summary>
    /// <exception cref="InvalidOperationException">The type declares no topic, or one with an invalid name.</exception>
    /// <exception cref="ArgumentException">
    /// The options have another guarantee than the one that the type declares, or the codec of another type.
    /// </exception>
    /// <inheritdoc cref="ReadAllAsync{T}(string, TopicOptions?, Action{GapNotice}?, CancellationToken)"/>
    public IAsyncEnumerable<Message<T>> ReadAllAsync<T>(
        TopicOptions? options = null, Action<GapNotice>? onGap = null, CancellationToken cancellationToken = default) =>
        ReadAllAsync<T>(DeclaredTopic.NameOf<T>(), options, onGap, cancellationToken);

    /// <inheritdoc cref="ReadAllAsync{T}(TopicOptions?, Action{GapNotice}?, CancellationToken)"/>
    public IAsyncEnumerable<Message<T>> ReadAllAsync<T>(CancellationToken cancellationToken) =>
        ReadAllAsync<T>(options: null, onGap: null, cancellationToken);
}
