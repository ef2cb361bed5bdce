using Microsoft.Extensions.Logging;

namespace QuickSilver.Hosting;

// A topic of the host, as the node's lifetime sees it, whatever its payload type.
internal interface IHostedTopic
{
    string Name { get; }

    bool IsOpen { get; }

    /// <summary>
    /// Whether it is opened for code that the library calls, which may need other services: it is opened when those that were added before
    /// the node have started.
    /// </summary>
    bool IsForConsumer { get; }

    /// <summary>Why it could not be opened on the present node; null when it could, or was not tried yet.</summary>
    Exception? Fault { get; }

    /// <summary>The first of its consumers that stopped because of an error, in words, and when; null if there is none.</summary>
    (DateTimeOffset Since, string InWords)? ConsumerFault { get; }

    /// <summary>
    /// Called once, before the first node starts, with the clock of the host. What subscribers throw at their end goes to the log.
    /// </summary>
    void OnHostStarted(ILogger log, TimeProvider time);

    Task OpenAsync(QuickSilverNode node, CancellationToken cancellationToken);

    /// <summary>The node has ended: what is asked from now on waits for the next.</summary>
    void OnNodeLost();

    /// <summary>
    /// Called when the host begins to stop: ends the consumers after what they have taken. When the token is cancelled, the token of their
    /// calls is cancelled, and they are not waited for any longer. Returns the number of those.
    /// </summary>
    Task<int> StopConsumersAsync(CancellationToken cancellationToken);

    /// <summary>
    /// Called when the host begins to stop: the readers read what was acknowledged for them, and end. When the token is cancelled, the rest
    /// is dropped, and they are not waited for any longer. Returns the number of those.
    /// </summary>
    Task<int> StopReadersAsync(CancellationToken cancellationToken);

    /// <summary>There will be no other node: waiting calls fail. What observers throw at their end goes to the log.</summary>
    void OnHostStopped(ILogger log);
}

// What was subscribed or attached to a topic of the host. It is attached to the endpoint of each node in turn.
internal interface IAttachment<T>
{
    void Attach(ITopic<T> topic);
}
