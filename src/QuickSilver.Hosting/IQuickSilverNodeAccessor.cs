namespace QuickSilver.Hosting;

/// <summary>
/// Provides the host's node. The host starts it in the background and does not wait for other members, so it may not be running yet. After
/// an expulsion, a new node replaces it. Inject this to open topics at run time. Register topics that are known beforehand with
/// <see cref="QuickSilverBuilder.AddTopic{T}(string, TopicOptions?)"/>, and inject them directly.
/// </summary>
public interface IQuickSilverNodeAccessor
{
    /// <summary>The running node, or null if no node is running.</summary>
    QuickSilverNode? Current { get; }

    /// <summary>Waits for the running node.</summary>
    /// <exception cref="ObjectDisposedException">The host has stopped.</exception>
    Task<QuickSilverNode> GetAsync(CancellationToken cancellationToken = default);
}
