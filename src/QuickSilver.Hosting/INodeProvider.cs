namespace QuickSilver.Hosting;

/// <summary>
/// The host's node. The host starts it in the background and never waits for peers, so it may not be there yet; after an
/// expulsion another takes its place. Inject this where topics are opened at run time; topics known beforehand are
/// better registered with <see cref="QuickSilverBuilder.AddTopic{T}"/> and injected themselves.
/// </summary>
public interface INodeProvider
{
    /// <summary>The running node, or null while there is none.</summary>
    QuickSilverNode? Current { get; }

    /// <summary>The running node, as soon as there is one.</summary>
    /// <exception cref="ObjectDisposedException">The host has stopped.</exception>
    Task<QuickSilverNode> GetAsync(CancellationToken cancellationToken = default);
}
