using System.Buffers.Binary;
using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Campaigns.Outsider;

// Sends forged packets at a steady rate from the outsider's namespace, every second one with the source address of the node that it was
// recorded of. It has joined the group, as any host may, and reads as much of it as it sends again.
internal sealed class Attack : IDisposable
{
    private const int IpBytes = 20;
    private const int UdpBytes = 8;
    private const int LargestPayload = 1472;
    private static readonly TimeSpan Tick = TimeSpan.FromMilliseconds(5);
    private readonly Recordings _recordings;
    private readonly Random _random = new(20_26);
    private readonly Forgery _forgery;
    private readonly Socket _socket;
    private readonly Socket _raw;
    private readonly Socket _ear;
    private readonly IPEndPoint _group;
    private readonly IPEndPoint _deserted;
    private readonly byte[] _heard = new byte[1 << 16];

    public Attack(QsmNetwork network, Recordings recordings)
    {
        _recordings = recordings;
        _forgery = new Forgery(_random);
        _group = recordings.Group;
        byte[] deserted = _group.Address.GetAddressBytes();
        deserted[^1] ^= 0x40;
        _deserted = new IPEndPoint(new IPAddress(deserted), _group.Port);
        byte[] address = network.Outsider.GetAddressBytes();
        (_socket, _raw, _ear) = network.Namespaces.Run(network.Node, () => (
            new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp),
            new Socket(AddressFamily.InterNetwork, SocketType.Raw, ProtocolType.Raw),
            new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp)));
        _socket.Bind(new IPEndPoint(network.Outsider, 0));
        _socket.SetSocketOption(SocketOptionLevel.IP, SocketOptionName.MulticastInterface, address);
        _raw.SetSocketOption(SocketOptionLevel.IP, SocketOptionName.MulticastInterface, address);
        // It hears what others send, not itself.
        _socket.MulticastLoopback = false;
        _raw.MulticastLoopback = false;
        _ear.ReceiveBufferSize = 1 << 16;
        _ear.Blocking = false;
        _ear.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.ReuseAddress, true);
        _ear.Bind(new IPEndPoint(_group.Address, _group.Port));
        _ear.SetSocketOption(SocketOptionLevel.IP, SocketOptionName.AddMembership, new MulticastOption(_group.Address, network.Outsider));
    }

    /// <summary>Packets sent to the group of the data, which each receiver gets.</summary>
    public long SentToGroup { get; private set; }

    public long Sent { get; private set; }

    /// <summary>Whether the packets go to a group which no host has joined: what it takes to make and to switch them.</summary>
    public bool IsAside { get; set; }

    /// <summary>Sends packets of these kinds in turn, for so long.</summary>
    public void Run(TimeSpan time, int rate, params ForgeryKind[] kinds)
    {
        var theirs = _recordings.Theirs;
        var own = _recordings.Own;
        long start = Stopwatch.GetTimestamp();
        long done = 0;
        for (TimeSpan elapsed; (elapsed = Stopwatch.GetElapsedTime(start)) < time;)
        {
            for (long due = (long)(elapsed.TotalSeconds * rate); done < due; done++)
            {
                Send(kinds[done % kinds.Length], theirs, own);
            }

            Thread.Sleep(Tick);
        }
    }

    public void Dispose()
    {
        _socket.Dispose();
        _raw.Dispose();
        _ear.Dispose();
    }

    private void Send(ForgeryKind kind, UdpSample[] theirs, UdpSample[] own)
    {
        var sample = theirs[_random.Next(theirs.Length)];
        if (kind == ForgeryKind.OtherKey)
        {
            // To whom the other cluster does not send.
            sample = sample with { Payload = own[_random.Next(own.Length)].Payload };
        }
        else if (kind == ForgeryKind.FreshReplay && Hear() is { } heard)
        {
            sample = new UdpSample(sample.Source, _group, heard);
        }

        sample = IsAside ? sample with { Destination = _deserted } : sample;
        byte[] payload = _forgery.Make(kind, sample);
        payload = payload.Length > LargestPayload ? payload[..LargestPayload] : payload;
        try
        {
            if (_random.Next(2) == 0)
            {
                _socket.SendTo(payload, sample.Destination);
            }
            else
            {
                _raw.SendTo(WithSource(payload, sample), sample.Destination);
            }
        }
        catch (SocketException)
        {
            // Nothing listens there any more; the system says so of an earlier one.
            return;
        }

        Sent++;
        SentToGroup += sample.Destination.Equals(_group) ? 1 : 0;
    }

    // Drops all that waits before: the latest is what matters.
    private byte[]? Hear()
    {
        try
        {
            int length = _ear.Receive(_heard);
            return _heard[..length];
        }
        catch (SocketException)
        {
            return null;
        }
    }

    // The kernel fills in lengths and the checksum of IP; UDP needs none.
    private static byte[] WithSource(byte[] payload, UdpSample sample)
    {
        byte[] packet = new byte[IpBytes + UdpBytes + payload.Length];
        packet[0] = 0x45;
        packet[8] = 1;
        packet[9] = (byte)ProtocolType.Udp;
        sample.Source.Address.TryWriteBytes(packet.AsSpan(12), out _);
        sample.Destination.Address.TryWriteBytes(packet.AsSpan(16), out _);
        BinaryPrimitives.WriteUInt16BigEndian(packet.AsSpan(IpBytes), (ushort)sample.Source.Port);
        BinaryPrimitives.WriteUInt16BigEndian(packet.AsSpan(IpBytes + 2), (ushort)sample.Destination.Port);
        BinaryPrimitives.WriteUInt16BigEndian(packet.AsSpan(IpBytes + 4), (ushort)(UdpBytes + payload.Length));
        payload.CopyTo(packet.AsSpan(IpBytes + UdpBytes));
        return packet;
    }
}
