namespace QuickSilver;

/// <summary>An open endpoint of a topic: what publishers and subscribers have in common. Thread-safe.</summary>
/// <remarks>
/// Disposing closes the endpoint. Accepted messages get up to half a second to become stable: to wait longer, drain first. Meanwhile the
/// endpoint leaves the topic, and its handlers, reader or consumer get everything that was acknowledged for it. The reader or consumer can
/// finish that afterwards, until the node ends.
/// </remarks>
public interface ITopicEndpoint : IAsyncDisposable
{
    /// <summary>The topic's name.</summary>
    string Name { get; }

    /// <summary>
    /// Cancels the endpoint immediately: drops messages that wait to be sent or read, and ends readers, handlers and feeds. Publish calls
    /// that wait, for room or for stability, end with <see cref="OperationCanceledException"/>. Messages that had come and were not handled
    /// are reported: as gaps with the reason <see cref="GapReason.SubscriberEnded"/>, and in the log (event 1650). Afterwards the endpoint
    /// can only be disposed.
    /// </summary>
    void Cancel();
}
