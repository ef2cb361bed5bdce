namespace QuickSilver;

/// <summary>
/// An open endpoint of a topic that publishes and subscribes. It also receives its own messages. Thread-safe.
/// </summary>
/// <typeparam name="T">The payload type.</typeparam>
public interface ITopic<T> : ITopicPublisher<T>, ITopicSubscriber<T>;
