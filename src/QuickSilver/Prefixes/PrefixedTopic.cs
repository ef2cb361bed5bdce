using QuickSilver.Endpoints;

namespace QuickSilver.Prefixes;

// One topic of a prefix. Core thread only, but for what is read of it under the lock of the prefix.
internal sealed class PrefixedTopic<T>(string name)
{
    public string Name { get; } = name;

    public PrefixTopicState State { get; set; } = PrefixTopicState.Opening;

    public Exception? Error { get; set; }

    /// <summary>Whether its endpoint is being opened, and may have messages already.</summary>
    public bool IsBeingOpened { get; set; }

    /// <summary>Null until it is open.</summary>
    public TopicEndpoint<T>? Endpoint { get; set; }

    /// <summary>Null until it is open. From any thread.</summary>
    public IConsumption? Consumption { get; set; }

    /// <summary>Whether the last call of the handler has completed.</summary>
    public bool HasEnded { get; set; }

    /// <summary>
    /// A later subscription of the same topic, which waits until this one has ended, so that its messages are handled afterwards.
    /// </summary>
    public PrefixedTopic<T>? Next { get; set; }

    /// <summary>When it is closed, because no node publishes it; null: a node does.</summary>
    public TimeSpan? ClosesAt { get; set; }

    public bool IsClosed => State == PrefixTopicState.Closed;

    public PrefixTopic ToPrefixTopic() => new(Name, State, Error);
}
