using QuickSilver.Core.Requests;
using QuickSilver.Feeds;
using QuickSilver.Serialization;

namespace QuickSilver.Publishing.Feeds;

// The application's feed, and the writer that it gets.
internal sealed class TypedFeed<T>(
    TopicPublisher publisher, PublishOrigin origin, string topic, IPayloadCodec<T> codec, IMessageFeed<T> feed, Action<Exception> fault)
    : AttachedFeed(publisher, origin, fault, isNotified: feed is not CallbackFeed<T>), IFeedWriter<T>
{
    public void Write(in T value)
    {
        CheckTurn();
        if (codec is MemoryCodec && value is ReadOnlyMemory<byte> bytes)
        {
            CheckSize(bytes.Length);
            Take(bytes.Span);
            return;
        }

        int size;
        try
        {
            size = codec.GetMaxSize(value);
            if ((uint)size > (uint)Buffer(0).Length)
            {
                size = PayloadEncoding<T>.CheckSize(codec, codec.GetSize(value));
                CheckSize(size);
            }
        }
        catch (OverflowException overflow)
        {
            throw MessageTooLargeException.BeyondCounting(overflow);
        }

        size = PayloadEncoding<T>.Write(codec, value, Buffer(size)[..size]);
        CheckSize(size);
        Take(Buffer(0)[..size]);
    }

    public override bool IsOf(object other) => ReferenceEquals(feed, other);

    // Names the work when it holds the core thread.
    public override string ToString() => $"feed {feed} of topic \"{topic}\"";

    public override void NotifyStable(long through) => feed.OnStable(through);

    public override void NotifyEnded(Exception? reason) => feed.OnEnded(reason);

    protected override bool AskApplication() => feed.Pull(this);
}

// A feed that gives a message for each call.
internal sealed class CallbackFeed<T>(FeedCallback<T> callback) : IMessageFeed<T>
{
    public override string ToString() => WrittenName.Of(callback.Method);

    public bool Pull(IFeedWriter<T> writer)
    {
        while (writer.CanWrite)
        {
            if (!callback(out var value))
            {
                return false;
            }

            writer.Write(in value);
        }

        return true;
    }
}
