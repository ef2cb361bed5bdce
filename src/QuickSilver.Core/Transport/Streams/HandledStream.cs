using System.Net;
using QuickSilver.Core.Security.Identities;

namespace QuickSilver.Core.Transport.Streams;

// The side of a control stream towards its handler: what came and the handler has not consumed, and the end of which it is notified.
internal abstract class HandledStream : CompletionSource, IControlStream
{
    internal const int HeldLimitBytes = 64 << 20;

    private HeldBytes _held;

    public abstract IPEndPoint? RemoteEndPoint { get; }

    public virtual PeerIdentity? Peer => null;

    public virtual PeerCertificate? PeerCertificate => null;

    public virtual KeyFault KeyFault => KeyFault.None;

    public abstract long PendingBytes { get; }

    protected IControlStreamHandler? Handler { get; set; }

    public abstract void Send(ReadOnlySpan<byte> bytes);

    public abstract void SendShared(byte[] bytes);

    public abstract void Close();

    /// <summary>Keeps what came for the handler.</summary>
    protected void Hold(ReadOnlySpan<byte> bytes) => _held.Append(bytes);

    protected void DropHeld() => _held = default;

    /// <summary>Offers the handler what is held.</summary>
    protected void Offer()
    {
        var offered = _held.Span;
        int consumed = -1;
        try
        {
            consumed = Handler!.OnBytes(this, offered);
        }
        finally
        {
            // An exception does not set consumed, so it is not known then where the next frame begins.
            if (consumed < 0 || consumed > offered.Length)
            {
                OnClosed("the stream's handler failed");
            }
        }

        if (IsClosed)
        {
            return;
        }

        _held.Consume(consumed);
        if (_held.Count > HeldLimitBytes)
        {
            OnClosed($"the stream's handler left {_held.Count} bytes unread");
        }
    }

    /// <summary>Closes the stream, and notifies the handler.</summary>
    protected void OnClosed(string reason)
    {
        if (!IsClosed)
        {
            Close();
            Handler!.OnClosed(this, reason);
        }
    }
}
