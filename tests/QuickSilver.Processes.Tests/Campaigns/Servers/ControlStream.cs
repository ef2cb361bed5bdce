using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Campaigns.Servers;

// Plain datagrams from one node to another through the same switch, at the rate of the fastest stream. What it does not receive in time is
// the machine's own doing, or the switch's.
internal sealed class ControlStream : IDisposable
{
    private const int Port = 9;
    private const int PayloadBytes = 100;
    private const double LongMilliseconds = 20;
    private const int TimeoutMilliseconds = 1000;

    private readonly Socket _from;
    private readonly Socket _to;
    private readonly List<Silence> _silences = [];
    private readonly Thread[] _threads;
    private readonly int _rate;
    private volatile bool _ends;

    public ControlStream(NetworkNamespaces network, int from, int to, int rate)
    {
        _rate = rate;
        _from = network.Run(from, () => Open(new IPEndPoint(network.Address(from), Port)));
        _to = network.Run(to, () => Open(new IPEndPoint(network.Address(to), Port)));
        _from.Connect(new IPEndPoint(network.Address(to), Port));
        _threads = [new Thread(Receive) { IsBackground = true }, new Thread(Send) { IsBackground = true }];
        Array.ForEach(_threads, static thread => thread.Start());
    }

    public IReadOnlyList<Silence> Silences
    {
        get
        {
            lock (_silences)
            {
                return _silences.ToArray();
            }
        }
    }

    public void Dispose()
    {
        _ends = true;
        Array.ForEach(_threads, static thread => thread.Join());
        _from.Dispose();
        _to.Dispose();
    }

    private static Socket Open(IPEndPoint at)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp)
        {
            ReceiveTimeout = TimeoutMilliseconds,
            SendTimeout = TimeoutMilliseconds,
        };
        socket.Bind(at);
        return socket;
    }

    private void Send()
    {
        byte[] payload = new byte[PayloadBytes];
        long start = Stopwatch.GetTimestamp();
        long sent = 0;
        while (!_ends)
        {
            for (long due = (long)(Stopwatch.GetElapsedTime(start).TotalSeconds * _rate); sent < due; sent++)
            {
                TrySend(payload);
            }

            Thread.Sleep(1);
        }
    }

    // Not while the switch takes nothing.
    private void TrySend(byte[] payload)
    {
        try
        {
            _from.Send(payload);
        }
        catch (SocketException exception) when (exception.SocketErrorCode is SocketError.TimedOut or SocketError.WouldBlock)
        {
        }
    }

    private void Receive()
    {
        byte[] payload = new byte[PayloadBytes];
        long last = 0;
        while (!_ends)
        {
            try
            {
                _to.Receive(payload);
            }
            catch (SocketException exception) when (exception.SocketErrorCode is SocketError.TimedOut or SocketError.WouldBlock)
            {
                continue;
            }

            long now = Stopwatch.GetTimestamp();
            if (last != 0 && Stopwatch.GetElapsedTime(last, now).TotalMilliseconds is var gap && gap >= LongMilliseconds)
            {
                lock (_silences)
                {
                    _silences.Add(new Silence("the control stream too", 0, gap, now));
                }
            }

            last = now;
        }
    }
}
