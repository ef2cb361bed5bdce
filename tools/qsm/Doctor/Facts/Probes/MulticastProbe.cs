using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography;
using QuickSilver.Tool.Doctor.Checks.Network;

namespace QuickSilver.Tool.Doctor.Facts.Probes;

// Sends to the doctors' group, and looks who hears it: this host itself, and the doctors of others that listen.
internal sealed class MulticastProbe : IDisposable
{
    private const int Tries = 4;
    private static readonly TimeSpan Wait = TimeSpan.FromMilliseconds(200);

    private readonly Socket _own;
    private readonly Socket _group;
    private readonly IPEndPoint _doctors;
    private readonly string _cluster;
    private readonly ulong _nonce = BitConverter.ToUInt64(RandomNumberGenerator.GetBytes(sizeof(ulong)));
    private readonly Dictionary<IPAddress, MulticastPeer> _peers;
    private bool _hearsItself;

    private MulticastProbe(IPAddress local, string cluster, int timeToLive, IReadOnlyList<IPAddress> named)
    {
        _doctors = DoctorSockets.GroupOf(local);
        _cluster = cluster;
        _peers = named.Distinct().ToDictionary(static address => address, static address => new MulticastPeer(address, IsNamed: true));
        _group = DoctorSockets.OpenGroup(local);
        try
        {
            _own = DoctorSockets.OpenOwn(local, 0, timeToLive);
        }
        catch
        {
            _group.Dispose();
            throw;
        }
    }

    // Of those that are named, and of others that answered.
    private bool IsComplete => _hearsItself
        && _peers.Count > 0
        && _peers.Values.All(static peer => peer is { AnswersUnicast: true, HearsThisHost: true, IsHeard: true });

    public static MulticastFacts Run(MulticastFacts about, IPAddress local, string cluster, int timeToLive, IReadOnlyList<IPAddress> named)
    {
        try
        {
            using var probe = new MulticastProbe(local, cluster, timeToLive, named);
            probe.Run();
            return about with { HearsItself = probe._hearsItself, Peers = [.. probe._peers.Values] };
        }
        catch (SocketException refused)
        {
            return about with { Fault = refused.Message, IsForbidden = refused.SocketErrorCode == SocketError.AccessDenied };
        }
    }

    public void Dispose()
    {
        _own.Dispose();
        _group.Dispose();
    }

    // Without peers, all tries are made: a host may listen.
    private void Run()
    {
        for (int attempt = 0; attempt < Tries && !IsComplete; attempt++)
        {
            _own.SendTo(Probe(isOfGroup: true), _doctors);
            foreach (var peer in _peers.Values.Where(static peer => !peer.AnswersUnicast))
            {
                TrySend(peer.Address);
            }

            long begun = Stopwatch.GetTimestamp();
            while (Wait - Stopwatch.GetElapsedTime(begun) is { Ticks: > 0 } rest && !IsComplete)
            {
                List<Socket> ready = [_own, _group];
                Socket.Select(ready, null, null, rest);
                ready.ForEach(Receive);
            }
        }
    }

    private byte[] Probe(bool isOfGroup) =>
        new DoctorDatagram(DoctorKind.Probe, isOfGroup, IsToGroup: false, _nonce).Write(_cluster);

    private void TrySend(IPAddress peer)
    {
        try
        {
            _own.SendTo(Probe(isOfGroup: false), new IPEndPoint(peer, _doctors.Port));
        }
        catch (SocketException)
        {
            // It is found not to answer.
        }
    }

    private void Receive(Socket socket)
    {
        byte[] bytes = new byte[DoctorDatagram.ProbeBytes];
        EndPoint from = DoctorSockets.AnyOf(_doctors.AddressFamily);
        int length;
        try
        {
            length = socket.ReceiveFrom(bytes, ref from);
        }
        catch (SocketException)
        {
            // Longer than it should be, or no process listens where a probe went.
            return;
        }

        if (DoctorDatagram.Read(bytes.AsSpan(0, length), _cluster) is not { } word || word.Nonce != _nonce)
        {
            return;
        }

        if (word.Kind == DoctorKind.Probe)
        {
            _hearsItself = true;
            return;
        }

        var address = ((IPEndPoint)from).Address;
        var peer = _peers.GetValueOrDefault(address) ?? new MulticastPeer(address, IsNamed: false);
        _peers[address] = peer with
        {
            AnswersUnicast = peer.AnswersUnicast || !word.IsToGroup,
            HearsThisHost = peer.HearsThisHost || word.IsOfGroup,
            IsHeard = peer.IsHeard || word.IsToGroup,
        };
    }
}
