using System.Net;
using System.Net.Sockets;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Requests;

namespace QuickSilver.Core.Transport;

// Accepts control streams in a task; the core thread says what becomes of each.
internal sealed class TcpControlListener : IControlListener
{
    private const int Backlog = 512;
    // Accepted and not yet seen by the core thread; the others wait in the kernel.
    private const int LongestQueue = 64;
    private static readonly TimeSpan RetryDelay = TimeSpan.FromMilliseconds(100);

    private readonly Socket _socket;
    private readonly IControlAcceptor _acceptor;
    private readonly ControlStreams _streams;
    private readonly SemaphoreSlim _room = new(LongestQueue);
    private volatile bool _isClosed;

    private TcpControlListener(Socket socket, IControlAcceptor acceptor, ControlStreams streams)
    {
        _socket = socket;
        _acceptor = acceptor;
        _streams = streams;
        LocalEndPoint = (IPEndPoint)socket.LocalEndPoint!;
    }

    public IPEndPoint LocalEndPoint { get; }

    public static TcpControlListener Open(IPEndPoint local, IControlAcceptor acceptor, ControlStreams streams)
    {
        var socket = new Socket(local.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            socket.Bind(local);
            socket.Listen(Backlog);
        }
        catch (SocketException refusal)
        {
            socket.Dispose();
            throw new TransportException($"Cannot listen at {local}: {refusal.Message}.", refusal);
        }

        var listener = new TcpControlListener(socket, acceptor, streams);
        _ = listener.AcceptAsync();
        return listener;
    }

    public void Dispose()
    {
        if (!_isClosed)
        {
            _isClosed = true;
            _streams.Remove(this);
            _socket.Dispose();
        }
    }

    private async Task AcceptAsync()
    {
        // First off the caller's thread, which is the core thread.
        await Task.Yield();
        while (!_isClosed)
        {
            try
            {
                await _room.WaitAsync();
                var accepted = await _socket.AcceptAsync();
                _streams.Post(new ActionRequest(() => OnAccepted(accepted)));
            }
            catch (Exception failure) when (failure is SocketException or ObjectDisposedException)
            {
                _room.Release();
                if (!_isClosed)
                {
                    // Out of descriptors, or the peer was gone already: neither ends the listener.
                    CoreLog.AcceptFailed(_streams.Logger, LocalEndPoint, failure.Message);
                    await Task.Delay(RetryDelay);
                }
            }
        }
    }

    private void OnAccepted(Socket accepted)
    {
        _room.Release();
        if (_isClosed)
        {
            accepted.Dispose();
            return;
        }

        var stream = TcpControlStream.Accepted(accepted, _streams);
        IControlStreamHandler? handler = null;
        try
        {
            handler = _acceptor.OnAccept(stream);
        }
        finally
        {
            if (handler is null)
            {
                stream.Close();
            }
            else
            {
                stream.Begin(handler);
            }
        }
    }
}
