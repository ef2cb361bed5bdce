using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography;
using QuickSilver.Core.Sealing;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Tool.Doctor.Checks.Network;

namespace QuickSilver.Tool.Doctor.Facts.Probes;

// Sends echoes of several sizes to the service and the nodes, and waits for the replies. The service's replies have no body, so its path is
// tried one way only. None is fragmented: what is too large for a path is lost on it. One echo asks for its reply at a second port, which
// sends nothing: that one passes only a firewall that lets in what others send first. All are repeated, as any datagram may be lost.
// Where packets are sealed, so are echoes and replies, under the key of the cluster. Sizes are those of datagrams, sealed or not.
internal sealed class EchoProbe : IDisposable
{
    private const int IpLevel = 0;
    private const int MtuDiscovery = 10;
    private const int Ipv6Level = 41;
    private const int MtuDiscoveryV6 = 23;
    // Neither fragments, nor uses what the path was found to carry before.
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
    private readonly EchoSeal? _seal;
    private readonly int _leastBytes;
    private readonly Socket _sender;
    private readonly Socket _silent;
    private readonly long _base = (long)(BitConverter.ToUInt64(RandomNumberGenerator.GetBytes(sizeof(ulong))) >> 2);

    private EchoProbe(IPAddress local, IReadOnlyList<EchoTarget> targets, ulong cluster, EchoSeal? seal, int packetBytes)
    {
        _seal = seal;
        _leastBytes = EchoPacket.Bytes + (seal is null ? 0 : SealedPacket.TrailerBytes);
        _targets = [.. targets.Select(static target => new Target(target))];
        _sizes =
        [
            packetBytes,
            .. Mtus.Select(mtu => mtu - MtuCheck.HeadersOf(local.AddressFamily))
                .Where(size => size < packetBytes && size > _leastBytes),
            _leastBytes,
        ];
        _cluster = cluster;
        _packet = new byte[packetBytes];
        _sender = Open(local);
        _silent = Open(local);
    }

    // The last echo to a target is the one whose reply goes to the silent port.
    private int EchoesOfTarget => _sizes.Length + 1;

    private bool IsComplete => _targets.TrueForAll(target => target.Largest == _sizes[0] && target.About.IsHeardUnsolicited);

    private sealed class Target(EchoTarget about)
    {
        public EchoTarget About { get; set; } = about;
        public int? Largest { get; set; }
    }

    /// <param name="local">The address of the interface.</param>
    /// <param name="targets">To whom echoes are sent.</param>
    /// <param name="cluster">The name of the cluster.</param>
    /// <param name="key">Under which echoes are sealed; null: they are not.</param>
    /// <param name="packetBytes">Of the largest.</param>
    public static (IReadOnlyList<EchoTarget> Targets, IReadOnlyList<PathFacts> Paths) Run(
        IPAddress local, IReadOnlyList<EchoTarget> targets, string cluster, ClusterKey? key, int packetBytes)
    {
        ulong id = TopicId.Of(cluster);
        using var seal = key is null ? null : new EchoSeal(id, key);
        using var probe = new EchoProbe(local, targets, id, seal, packetBytes);
        probe.Run();
        return (
            [.. probe._targets.Select(static target => target.About)],
            [
                .. probe._targets.Where(static target => target.About.IsAnswered)
                    .Select(static target => new PathFacts(target.About.ToString(), target.Largest)),
            ]);
    }

    public void Dispose()
    {
        _sender.Dispose();
        _silent.Dispose();
    }

    private static Socket Open(IPAddress local)
    {
        var socket = new Socket(local.AddressFamily, SocketType.Dgram, ProtocolType.Udp) { ReceiveBufferSize = ReceiveBytes };
        socket.Bind(new IPEndPoint(local, 0));
        if (OperatingSystem.IsLinux())
        {
            (int level, int option) = local.AddressFamily == AddressFamily.InterNetworkV6
                ? (Ipv6Level, MtuDiscoveryV6)
                : (IpLevel, MtuDiscovery);
            socket.SetRawSocketOption(level, option, BitConverter.GetBytes(Probe));
        }

        return socket;
    }

    private void Run()
    {
        for (int attempt = 0; attempt < Tries && !IsComplete; attempt++)
        {
            for (int i = 0; i < _targets.Count; i++)
            {
                SendAll(i);
            }

            long begun = Stopwatch.GetTimestamp();
            while (Wait - Stopwatch.GetElapsedTime(begun) is { Ticks: > 0 } rest && !IsComplete)
            {
                List<Socket> ready = [_sender, _silent];
                Socket.Select(ready, null, null, rest);
                ready.ForEach(Receive);
            }
        }
    }

    // The smallest first, so that a receiving kernel does not join them to one: a firewall that drops large ones would drop the smaller one
    // too, which came with it. What is smaller than one that was answered shows nothing more.
    private void SendAll(int index)
    {
        var target = _targets[index];
        if (!target.About.IsHeardUnsolicited)
        {
            Send(target, (index * EchoesOfTarget) + _sizes.Length, _leastBytes, _silent);
        }

        for (int i = _sizes.Length - 1; i >= 0; i--)
        {
            if (_sizes[i] > (target.Largest ?? 0))
            {
                Send(target, (index * EchoesOfTarget) + i, _sizes[i], _sender);
            }
        }
    }

    private void Send(Target target, int number, int bytes, Socket answerTo)
    {
        var packet = _packet.AsSpan(0, _seal is null ? bytes : bytes - SealedPacket.TrailerBytes);
        var template = _seal?.Template ?? new PacketTemplate(_cluster, 0, 0, 0, 0);
        EchoPacket.Write(packet, template, _base + number, (IPEndPoint)answerTo.LocalEndPoint!);
        try
        {
            _sender.SendTo(_seal is null ? packet : _seal.Seal(packet), target.About.EndPoint);
        }
        catch (SocketException refused) when (refused.SocketErrorCode == SocketError.MessageSize)
        {
            // The interface is too narrow for it.
        }
        catch (SocketException refused)
        {
            // A firewall may refuse large ones only: an answer takes it back.
            target.About = target.About with
            {
                IsForbidden = refused.SocketErrorCode == SocketError.AccessDenied,
                Refusal = refused.Message,
            };
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
        if (_seal is null ? PacketHeader.Validate(bytes, _cluster) != DropReason.None : !_seal.TryOpen(bytes))
        {
            return;
        }

        var reply = new PacketHeader(bytes);
        long number = reply.Sequence - _base;
        if (reply.Kind != PacketKind.EchoReply || number < 0 || number >= (long)_targets.Count * EchoesOfTarget)
        {
            return;
        }

        var target = _targets[(int)(number / EchoesOfTarget)];
        int echo = (int)(number % EchoesOfTarget);
        target.About = target.About with
        {
            IsAnswered = true,
            IsHeardUnsolicited = target.About.IsHeardUnsolicited || echo == _sizes.Length,
            IsForbidden = false,
            Refusal = null,
        };
        if (echo < _sizes.Length)
        {
            target.Largest = Math.Max(target.Largest ?? 0, _sizes[echo]);
        }
    }
}
