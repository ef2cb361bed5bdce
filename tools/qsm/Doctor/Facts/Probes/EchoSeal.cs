using System.Security.Cryptography;
using QuickSilver.Core.Sealing;
using QuickSilver.Core.Wire;

namespace QuickSilver.Tool.Doctor.Facts.Probes;

// Seals echoes and opens their replies under the key of the cluster, in the name of a node that there is none of: nodes answer echoes of
// those that are no members yet.
internal sealed class EchoSeal : ISubkeyBudget, IDisposable
{
    // At most some hundred nodes reply, each with its own subkey. More must come from an attacker.
    private const int MostSealers = 4_096;

    private readonly ulong _cluster;
    private readonly Sealer _self = new(BitConverter.ToUInt64(RandomNumberGenerator.GetBytes(sizeof(ulong))) | 1, 1);
    private readonly ClusterSeals _seals;
    private readonly byte[] _sealed = new byte[ushort.MaxValue];
    private int _sealers;

    public EchoSeal(ulong cluster, ClusterKey key)
    {
        _cluster = cluster;
        _seals = new ClusterSeals(_self, this);
        _seals.Add(key);
    }

    /// <summary>Of the headers of what is sealed.</summary>
    public PacketTemplate Template => new(_cluster, _self.Id, _self.Incarnation, 0, 0);

    /// <summary>The sealed form of a packet, until the next call.</summary>
    public ReadOnlySpan<byte> Seal(ReadOnlySpan<byte> packet)
    {
        var (seal, label) = _seals.Newest!.Value;
        return _sealed.AsSpan(0, seal.Sealer.Seal(packet, packet.Length, _sealed, label));
    }

    /// <summary>Opens a datagram where it lies. False: it is not of the cluster.</summary>
    public bool TryOpen(Span<byte> datagram) =>
        SealedPacket.Validate(datagram, _cluster) == DropReason.None
        && new PacketHeader(datagram).Region == 0
        && _seals.Open(datagram[..new PacketHeader(datagram).Length]) == DropReason.None;

    public void Dispose() => _seals.Dispose();

    bool ISubkeyBudget.TryTake() => _sealers++ < MostSealers;

    bool ISubkeyBudget.TryTakeOld() => false;
}
