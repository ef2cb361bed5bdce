using QuickSilver.Core.Serialization;
using QuickSilver.Multicast;
using QuickSilver.Nodes;
using QuickSilver.Topics;

namespace QuickSilver.Endpoints;

// The pull model: the core thread asks for a message when the network can take one, encodes it into the feed's one
// buffer, and keeps it there until it is taken. Nothing else is buffered.
internal abstract class AttachedFeed : IAttachedFeed
{
    private const int MaxKeptBytes = 64 << 10;

    private readonly TopicCore _topic;
    private readonly SignalRequest _signal;
    private readonly SignalRequest _attach;
    private readonly SignalRequest _detach;
    private byte[] _buffer = [];
    private int _filled = -1;
    // The feed has said that it has nothing; only a signal asks it again.
    private bool _isIdle;
    private volatile bool _isDisposed;

    protected AttachedFeed(TopicCore topic)
    {
        _topic = topic;
        _signal = new ActionSignal(topic.Node.Environment, OnSignal);
        _attach = new ActionSignal(topic.Node.Environment, OnAttach);
        _detach = new ActionSignal(topic.Node.Environment, OnDetach);
    }

    /// <summary>The encoded message that waits to be taken; core thread only.</summary>
    public ReadOnlySpan<byte> Filled => _buffer.AsSpan(0, _filled);

    public bool IsDisposed => _isDisposed;

    public void Attach() => _attach.Signal();

    public void Signal()
    {
        if (!_isDisposed)
        {
            _signal.Signal();
        }
    }

    public void Dispose()
    {
        if (!_isDisposed)
        {
            _isDisposed = true;
            _detach.Signal();
        }
    }

    /// <summary>Core thread: makes sure a message waits in Filled; false when the feed has none.</summary>
    public bool TryFill()
    {
        if (_filled >= 0)
        {
            return true;
        }

        if (_isIdle || _isDisposed)
        {
            return false;
        }

        try
        {
            _filled = Pull(ref _buffer);
        }
        catch (Exception exception)
        {
            // A feed that throws is asked again when it signals: asking at once would throw for ever.
            _topic.OnFeedFault(exception);
        }

        _isIdle = _filled < 0;
        return !_isIdle;
    }

    /// <summary>Core thread: the message was taken.</summary>
    public void OnSent()
    {
        _filled = -1;
        if (_buffer.Length > MaxKeptBytes)
        {
            _buffer = [];
        }
    }

    /// <summary>Asks the application for a message and encodes it; -1 when it has none.</summary>
    protected abstract int Pull(ref byte[] buffer);

    private void OnSignal()
    {
        _isIdle = false;
        _topic.Publisher.Pump();
    }

    private void OnAttach()
    {
        if (!_isDisposed)
        {
            _topic.Publisher.Add(this);
        }
    }

    private void OnDetach()
    {
        _topic.Publisher.Remove(this);
        _filled = -1;
    }
}

internal sealed class AttachedFeed<T>(TopicCore topic, IPayloadCodec<T> codec, FeedCallback<T> callback) : AttachedFeed(topic)
{
    protected override int Pull(ref byte[] buffer)
    {
        if (!callback(out var value))
        {
            return -1;
        }

        int size = codec.GetSize(value);
        if (size > MulticastOptions.MaxMessageBytes)
        {
            throw new MessageTooLargeException(size, MulticastOptions.MaxMessageBytes);
        }

        if (size > buffer.Length)
        {
            buffer = GC.AllocateUninitializedArray<byte>((int)System.Numerics.BitOperations.RoundUpToPowerOf2((uint)Math.Max(size, 256)));
        }

        return TopicEndpoint<T>.Write(codec, value, buffer.AsSpan(0, size));
    }
}
