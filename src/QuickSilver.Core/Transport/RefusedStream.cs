using System.Net;
using QuickSilver.Core.Requests;

namespace QuickSilver.Core.Transport;

// A control stream for which the system had not even a socket: it takes what it is given, and says in a moment that it is closed,
// as a stream does whose peer cannot be reached.
internal sealed class RefusedStream : IControlStream
{
    private bool _isClosed;

    public RefusedStream(IPEndPoint remote, IControlStreamHandler handler, string reason, Action<Request> post)
    {
        RemoteEndPoint = remote;
        post(new ActionRequest(() =>
        {
            if (!_isClosed)
            {
                _isClosed = true;
                handler.OnClosed(this, reason);
            }
        }));
    }

    public IPEndPoint? RemoteEndPoint { get; }

    public long PendingBytes => 0;

    public void Send(ReadOnlySpan<byte> bytes)
    {
    }

    public void SendShared(byte[] bytes)
    {
    }

    public void Close() => _isClosed = true;
}
