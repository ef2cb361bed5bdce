namespace QuickSilver.Feeds;

/// <summary>Provides a message when the network is ready to send one (the pull model of QSM).</summary>
/// <typeparam name="T">The topic's payload type.</typeparam>
/// <param name="value">The message to send.</param>
/// <returns>False when there is nothing to send now. Call <see cref="IAttachedFeed.Signal"/> to be called again.</returns>
public delegate bool FeedCallback<T>(out T value);

/// <summary>A feed attached to a topic.</summary>
public interface IAttachedFeed : IDisposable
{
    /// <summary>Signals that there is something to send. Callable from any thread.</summary>
    void Signal();
}
