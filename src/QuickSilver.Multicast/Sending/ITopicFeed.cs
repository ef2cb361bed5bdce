using QuickSilver.Core.Flow;

namespace QuickSilver.Multicast.Sending;

// A topic that waits for its turn at a stream.
internal interface ITopicFeed : IFeed
{
    /// <summary>Called when the stream in whose line the topic was takes nothing more.</summary>
    void OnStreamClosed();
}
