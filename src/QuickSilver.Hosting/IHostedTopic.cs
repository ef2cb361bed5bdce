using Microsoft.Extensions.Logging;

namespace QuickSilver.Hosting;

// A topic of the host, as the node's lifetime sees it, whatever its payload type.
internal interface IHostedTopic
{
    string Name { get; }

    bool IsOpen { get; }

    /// <summary>Why it could not be opened on the present node; null when it could, or was not tried yet.</summary>
    Exception? Fault { get; }

    Task OpenAsync(QuickSilverNode node, CancellationToken cancellationToken);

    /// <summary>The node has ended: what is asked from now on waits for the next.</summary>
    void OnNodeLost();

    /// <summary>There will be no other node: whoever waits is told. What observers throw at their end goes to the log.</summary>
    void OnHostStopped(ILogger log);
}
