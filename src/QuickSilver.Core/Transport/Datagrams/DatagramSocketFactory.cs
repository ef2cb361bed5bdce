using System.Net;
using System.Net.Sockets;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Transport.Descriptors;

namespace QuickSilver.Core.Transport.Datagrams;

// Opens datagram ports on one interface, with every option that QuickSilver wants of the system.
internal sealed class DatagramSocketFactory(IPAddress interfaceAddress, bool segmentationOffload, CoreCounters counters, ILogger logger)
{
    private const int SocketLevel = 1;
    private const int ReuseAddress = 2;
    // IP_PMTUDISC_PROBE, and the same of IPv6.
    private const byte NeverFragment = 3;
    // A port that only sends still has a receive queue; the kernel rounds this up to its least.
    private const int UnusedBufferBytes = 1;

    private readonly MulticastInterface _interface = new(interfaceAddress);

    /// <summary>How many routers what is sent to groups may pass, plus one.</summary>
    public int TimeToLive { get; init; } = 1;

    /// <summary>Null where the system shows no limit.</summary>
    public DescriptorRoom? Descriptors { get; init; }

    /// <summary>Looks up the interface again, before ports are bound to it again.</summary>
    public void Refresh() => _interface.Refresh();

    public DatagramSocket Open(DatagramPortOptions options)
    {
        Socket? socket = null;
        try
        {
            socket = new Socket(_interface.Family, SocketType.Dgram, ProtocolType.Udp);
            return Set(socket, options);
        }
        catch (SocketException refusal)
        {
            socket?.Dispose();
            string place = options.Group is null
                ? $"{new IPEndPoint(interfaceAddress, options.Port)}"
                : $"{new IPEndPoint(options.Group, options.Port)} on {interfaceAddress}";
            throw new TransportException(
                $"Cannot open a datagram port at {place}: {DescriptorRoom.InWords(refusal, Descriptors)}.", refusal);
        }
        catch
        {
            socket?.Dispose();
            throw;
        }
    }

    private DatagramSocket Set(Socket socket, DatagramPortOptions options)
    {
        socket.Blocking = false;
        int receiveBufferBytes = SocketBuffers.AskReceive(socket, options.Receives ? options.ReceiveBufferBytes : UnusedBufferBytes);
        SocketBuffers.AskSend(socket, options.SendBufferBytes);
        Bind(socket, options);

        // Sends leave by this interface, and what this host sends reaches the members on this host too.
        socket.SetSocketOption(_interface.Options, SocketOptionName.MulticastInterface, _interface.Value);
        socket.SetSocketOption(_interface.Options, SocketOptionName.MulticastLoopback, true);
        socket.SetSocketOption(_interface.Options, SocketOptionName.MulticastTimeToLive, TimeToLive);
        if (OperatingSystem.IsLinux())
        {
            // Nothing is fragmented, and what routers report of a path is ignored: nodes find out which sizes pass.
            socket.SetRawSocketOption(_interface.Level, _interface.MtuDiscoveryOption, [NeverFragment, 0, 0, 0]);
        }

        if (options.ReportsFullQueue && OperatingSystem.IsLinux())
        {
            socket.SetRawSocketOption(_interface.Level, _interface.ReceiveErrorsOption, [1, 0, 0, 0]);
        }

        var calls = OperatingSystem.IsLinux() ? (IDatagramCalls)new LinuxDatagramCalls(socket) : new ManagedDatagramCalls(socket);
        bool mayOffload = segmentationOffload && options.SegmentationOffload;
        var port = new DatagramSocket(socket, (IPEndPoint)socket.LocalEndPoint!, calls, counters, logger)
        {
            ReceiveBufferBytes = receiveBufferBytes,
            MaxRunSegments = mayOffload && SegmentationOffload.CanSendRuns(socket) ? SegmentationOffload.MaxSegments : 1,
            Place = OperatingSystem.IsLinux()
                ? new InterfacePlace(socket, options.Receives ? options.Group : null, _interface)
                : null,
            ReceivesRuns = mayOffload && options.Receives && SegmentationOffload.TryReceiveRuns(socket),
        };
        Report(port, options);
        return port;
    }

    private void Bind(Socket socket, DatagramPortOptions options)
    {
        if (options.Group is not { } group)
        {
            socket.Bind(new IPEndPoint(interfaceAddress, options.Port));
            return;
        }

        if (OperatingSystem.IsLinux())
        {
            // Bare SO_REUSEADDR: the managed option sets SO_REUSEPORT too, which needs all processes to be of one user.
            socket.SetRawSocketOption(SocketLevel, ReuseAddress, [1, 0, 0, 0]);
            // Off, as else this socket also hears the groups that other sockets of the host have joined.
            socket.SetRawSocketOption(_interface.Level, _interface.MulticastAllOption, [0, 0, 0, 0]);
            // Bound to the group, so that nothing but the group's packets is looked up to this socket.
            socket.Bind(new IPEndPoint(_interface.Bindable(group), options.Port));
        }
        else
        {
            socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.ReuseAddress, true);
            socket.Bind(new IPEndPoint(_interface.Any, options.Port));
        }

        if (options.Receives)
        {
            _interface.Join(socket, group);
        }
    }

    private void Report(DatagramSocket port, DatagramPortOptions options)
    {
        CoreLog.PortOpened(logger, port.LocalEndPoint, port.MaxRunSegments > 1 ? "gso" : "single", port.ReceiveBufferBytes);
        if (options.Receives && SocketBuffers.IsClamped(options.ReceiveBufferBytes, port.ReceiveBufferBytes))
        {
            int asked = options.ReceiveBufferBytes;
            CoreLog.ReceiveBufferClamped(logger, port.LocalEndPoint, asked, port.ReceiveBufferBytes, asked);
        }
    }
}
