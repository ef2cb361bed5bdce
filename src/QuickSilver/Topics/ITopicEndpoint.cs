namespace QuickSilver;

/// <summary>An open endpoint of a topic: what publishers and subscribers have in common. Thread-safe.</summary>
/// <remarks>
/// Disposing closes the endpoint: accepted messages get up to half a second to become stable, and the reader can finish the buffered
/// messages. To wait longer for messages to become stable, drain first.
/// </remarks>
public interface ITopicEndpoint : IAsyncDisposable
{
    /// <summary>The topic's name.</summary>
    string Name { get; }

    /// <summary>
    /// Cancels the endpoint immediately: drops messages that wait to be sent or read, and ends readers, handlers and feeds. Publish calls
    /// that wait, for room or for stability, end with <see cref="OperationCanceledException"/>. Afterwards the endpoint can only be
    /// disposed. Disposing without cancelling gives accepted messages up to half a second to become stable, and lets the reader finish the
    /// buffered messages.
    /// </summary>
    void Cancel();
}
