using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography;
using QuickSilver.Core.Wire;
using QuickSilver.Tool.Doctor.Checks;
using QuickSilver.Membership.Views;

namespace QuickSilver.Tool.Doctor.Facts;

// Sends echoes of several sizes to the service and the nodes, and waits for the replies. The service's replies have no body, so its path is
// tried one way only. None is fragmented: what is too large for a path is lost on it. An echo is repeated, as any datagram may be lost.
internal sealed class EchoProbe
{
    private const int IpLevel = 0;
    private const int MtuDiscovery = 10;
    // Neither fragments, nor believes what the path was found to carry before.
    private const int Probe = 3;
    private const int ReceiveBytes = 4 << 20;
    private const int Tries = 4;
    private static readonly TimeSpan Wait = TimeSpan.FromMilliseconds(250);

    // Of Ethernet, PPPoE, tunnels over IPv4 and IPv6, WireGuard, overlay networks, and the least of IPv6 and IPv4.
    private static readonly int[] Mtus = [9000, 1500, 1492, 1480, 1460, 1450, 1440, 1420, 1400, 1380, 1360, 1300, 1280, 1006, 576];

    private readonly List<Target> _targets;
    private readonly int[] _sizes;
    private readonly ulong _cluster;
    private readonly byte[] _packet;
    private readonly long _base = (long)(BitConverter.ToUInt64(RandomNumberGenerator.GetBytes(sizeof(ulong))) >> 2);
    private int _left;

    private EchoProbe(IReadOnlyList<EchoTarget> targets, string cluster, int packetBytes)
    {
        _targets = [.. targets.Select(static target => new Target(target))];
        _sizes =
        [
            packetBytes,
            .. Mtus.Select(static mtu => mtu - MtuCheck.HeaderBytes).Where(size => size < packetBytes),
            EchoPacket.Bytes,
        ];
        _cluster = TopicId.Of(cluster);
        _packet = new byte[packetBytes];
    }

    private sealed class Target(EchoTarget about)
    {
        public EchoTarget About { get; set; } = about;
        public int? Largest { get; set; }
    }

    public static (IReadOnlyList<EchoTarget> Targets, IReadOnlyList<PathFacts> Paths) Run(
        IPAddress local, IReadOnlyList<EchoTarget> targets, string cluster, int packetBytes)
    {
        var probe = new EchoProbe(targets, cluster, packetBytes);
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp) { ReceiveBufferSize = ReceiveBytes };
        socket.Bind(new IPEndPoint(local, 0));
        if (OperatingSystem.IsLinux())
        {
            socket.SetRawSocketOption(IpLevel, MtuDiscovery, BitConverter.GetBytes(Probe));
        }

        probe.Run(socket);
        return (
            [.. probe._targets.Select(static target => target.About)],
            [
                .. probe._targets.Where(static target => target.About.IsAnswered)
                    .Select(static target => new PathFacts(target.About.ToString(), target.Largest)),
            ]);
    }

    private void Run(Socket socket)
    {
        _left = _targets.Count;
        for (int attempt = 0; attempt < Tries && _left > 0; attempt++)
        {
            for (int i = 0; i < _targets.Count; i++)
            {
                Send(socket, i);
            }

            long until = Stopwatch.GetTimestamp() + (long)(Wait.TotalSeconds * Stopwatch.Frequency);
            while (_left > 0 && Stopwatch.GetElapsedTime(Stopwatch.GetTimestamp(), until) is { Ticks: > 0 } rest
                && socket.Poll(rest, SelectMode.SelectRead))
            {
                Receive(socket);
            }
        }
    }

    // The largest first. What is smaller than one that was answered tells nothing more.
    private void Send(Socket socket, int index)
    {
        var target = _targets[index];
        for (int i = 0; i < _sizes.Length && _sizes[i] > (target.Largest ?? 0); i++)
        {
            var packet = _packet.AsSpan(0, _sizes[i]);
            long nonce = _base + (index * _sizes.Length) + i;
            EchoPacket.Write(packet, new PacketTemplate(_cluster, 0, 0, 0, 0), nonce, (IPEndPoint)socket.LocalEndPoint!);
            try
            {
                socket.SendTo(packet, target.About.EndPoint);
            }
            catch (SocketException refused) when (refused.SocketErrorCode == SocketError.MessageSize)
            {
                // The interface is too narrow for it.
            }
            catch (SocketException refused)
            {
                // A firewall may refuse large ones only.
                target.About = target.About with
                {
                    IsForbidden = refused.SocketErrorCode == SocketError.AccessDenied,
                    Refusal = refused.Message,
                };
            }
        }
    }

    private void Receive(Socket socket)
    {
        Span<byte> bytes = stackalloc byte[ushort.MaxValue];
        int length;
        try
        {
            length = socket.Receive(bytes);
        }
        catch (SocketException)
        {
            return;
        }

        bytes = bytes[..length];
        if (PacketHeader.Validate(bytes, _cluster) != DropReason.None)
        {
            return;
        }

        var reply = new PacketHeader(bytes);
        long number = reply.Sequence - _base;
        if (reply.Kind != PacketKind.EchoReply || number < 0 || number >= (long)_targets.Count * _sizes.Length)
        {
            return;
        }

        var target = _targets[(int)(number / _sizes.Length)];
        int size = _sizes[(int)(number % _sizes.Length)];
        target.About = target.About with { IsAnswered = true, IsForbidden = false, Refusal = null };
        if (size > (target.Largest ?? 0))
        {
            _left -= size == _sizes[0] ? 1 : 0;
            target.Largest = size;
        }
    }
}
