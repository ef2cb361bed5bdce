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
    // Doubled while the system goes on refusing: who waits in the backlog is not lost.
    private static readonly TimeSpan FirstRetry = TimeSpan.FromMilliseconds(50);
    private static readonly TimeSpan LastRetry = TimeSpan.FromSeconds(1);

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
        Socket? socket = null;
        try
        {
            socket = new Socket(local.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
            socket.Bind(local);
            socket.Listen(Backlog);
        }
        catch (SocketException refusal)
        {
            socket?.Dispose();
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
        long failures = 0;
        var pause = FirstRetry;
        while (!_isClosed)
        {
            try
            {
                await _room.WaitAsync();
                var accepted = await _socket.AcceptAsync();
                (failures, pause) = (0, FirstRetry);
                _streams.Post(new ActionRequest(() => OnAccepted(accepted)));
            }
            catch (Exception failure) when (failure is SocketException or ObjectDisposedException)
            {
                _room.Release();
                if (!_isClosed)
                {
                    // Out of descriptors, or the peer was gone already: neither ends the listener.
                    if (long.IsPow2(++failures))
                    {
                        CoreLog.AcceptFailed(_streams.Logger, LocalEndPoint, failure.Message);
                    }

                    await Task.Delay(pause);
                    pause = pause * 2 < LastRetry ? pause * 2 : LastRetry;
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

        // Its peer may be gone already, and then it has no address any more.
        if (TcpControlStream.TryAccept(accepted, _streams) is not { } stream)
        {
            accepted.Dispose();
            return;
        }

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
