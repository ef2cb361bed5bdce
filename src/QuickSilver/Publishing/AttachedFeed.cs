using System.Numerics;
using QuickSilver.Core.Environment;
using QuickSilver.Multicast;
using QuickSilver.Serialization;

namespace QuickSilver.Publishing;

// The pull model: the core thread asks for a message when the network can take one, and passes it on at once. A message that is not taken
// is kept and sent first; nothing else is buffered.
internal abstract class AttachedFeed : IAttachedFeed
{
    private const int LeastBufferBytes = 512;
    private const int MaxBufferBytes = 64 << 10;

    private readonly TopicPublisher _publisher;
    private readonly PublishOrigin _origin;
    private readonly SignalRequest _signal;
    private readonly SignalRequest _attach;
    private readonly SignalRequest _detach;
    private byte[] _buffer = [];
    // The length of the message that is kept in the buffer because there was no room for it; -1 if there is none.
    private int _kept = -1;
    // The feed has reported that it has no message. It is asked again only after a signal.
    private bool _isIdle;
    private volatile bool _isDisposed;

    protected AttachedFeed(TopicPublisher publisher, PublishOrigin origin)
    {
        _publisher = publisher;
        _origin = origin;
        _signal = new ActionSignal(publisher.Environment, OnSignal);
        _attach = new ActionSignal(publisher.Environment, OnAttach);
        _detach = new ActionSignal(publisher.Environment, OnDetach);
    }

    public bool IsDisposed => _isDisposed;

    /// <summary>Called on the core thread with an exception of the application's feed.</summary>
    public required Action<Exception> Fault { get; init; }

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

    /// <summary>
    /// Core thread: gets the next message, encoded. It stays unchanged until the feed is asked again. False if there is none. A message
    /// that is not taken must be passed to <see cref="Keep"/>.
    /// </summary>
    public bool TryPull(out ReadOnlySpan<byte> message)
    {
        message = default;
        if (_origin.DropReason is not null)
        {
            return false;
        }

        if (_kept >= 0)
        {
            message = _buffer.AsSpan(0, _kept);
            _kept = -1;
            return true;
        }

        if (_isIdle || _isDisposed)
        {
            return false;
        }

        if (_buffer.Length > MaxBufferBytes)
        {
            _buffer = [];
        }

        try
        {
            _isIdle = !TryAsk(ref _buffer, out message);
        }
        catch (Exception exception)
        {
            // A feed that throws is asked again after it signals. If it were asked at once, it could throw forever.
            _isIdle = true;
            Fault(exception);
        }

        return !_isIdle;
    }

    /// <summary>
    /// Core thread: keeps the message that was pulled last, because there was no room for it. It is the next message again.
    /// </summary>
    public void Keep(ReadOnlySpan<byte> message)
    {
        if (!message.Overlaps(_buffer))
        {
            Fit(ref _buffer, message.Length);
            message.CopyTo(_buffer);
        }

        _kept = message.Length;
    }

    /// <summary>Asks the application for a message. False if it has none. An encoded message is at the beginning of the buffer.</summary>
    protected abstract bool TryAsk(ref byte[] buffer, out ReadOnlySpan<byte> message);

    protected static void Fit(ref byte[] buffer, int bytes)
    {
        if (bytes > buffer.Length)
        {
            int length = (int)BitOperations.RoundUpToPowerOf2((uint)Math.Max(bytes, LeastBufferBytes));
            buffer = GC.AllocateUninitializedArray<byte>(length);
        }
    }

    private void OnSignal()
    {
        _isIdle = false;
        _publisher.Pump();
    }

    private void OnAttach()
    {
        if (!_isDisposed)
        {
            _publisher.Add(this);
        }
    }

    private void OnDetach()
    {
        _publisher.Remove(this);
        if (_kept >= 0 && _origin.DropReason is null)
        {
            _publisher.TakeKept(_origin, _buffer.AsSpan(0, _kept));
        }

        _kept = -1;
    }
}

internal sealed class AttachedFeed<T>(TopicPublisher publisher, PublishOrigin origin, IPayloadCodec<T> codec, FeedCallback<T> callback)
    : AttachedFeed(publisher, origin)
{
    protected override bool TryAsk(ref byte[] buffer, out ReadOnlySpan<byte> message)
    {
        message = default;
        if (!callback(out var value))
        {
            return false;
        }

        if (codec is MemoryCodec && value is ReadOnlyMemory<byte> bytes)
        {
            Check(bytes.Length);
            message = bytes.Span;
            return true;
        }

        int size = codec.GetMaxSize(value);
        if ((uint)size > (uint)buffer.Length)
        {
            size = PayloadEncoding<T>.CheckSize(codec, codec.GetSize(value));
            Check(size);
            Fit(ref buffer, size);
        }

        size = PayloadEncoding<T>.Write(codec, value, buffer.AsSpan(0, size));
        Check(size);
        message = buffer.AsSpan(0, size);
        return true;
    }

    private static void Check(int size)
    {
        if (size > MulticastOptions.MaxMessageBytes)
        {
            throw new MessageTooLargeException(size, MulticastOptions.MaxMessageBytes);
        }
    }
}
