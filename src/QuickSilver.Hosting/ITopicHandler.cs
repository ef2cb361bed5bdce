namespace QuickSilver.Hosting;

/// <summary>
/// A service that handles a topic's messages, registered with
/// <see cref="QuickSilverBuilder.AddTopicHandler{T, THandler}(string, TopicOptions?)"/>. It is called on the node's core thread. It must
/// not block, and must not keep the bytes of a <see cref="ReadOnlyMemory{T}"/> payload after it returns. Its exceptions are logged and
/// counted.
/// </summary>
/// <typeparam name="T">The topic's payload type.</typeparam>
public interface ITopicHandler<T>
{
    /// <summary>Handles one message.</summary>
    void Handle(in Message<T> message);

    /// <summary>Handles a gap. Called in order with the messages, for messages that cannot be delivered.</summary>
    void OnGap(GapNotice gap)
    {
    }
}
