using System.Buffers.Binary;
using QuickSilver.Core.Wire;

namespace QuickSilver.Core.Sealing;

// The last two keys of the cluster at one node. Others may not have the newest yet, or may still use the one before.
//
// Every node has these keys, whatever it is a member of, and can seal under them in the name of every other. So nothing but echoes and
// their replies is opened: they say of a node that it is there, and nothing of any topic.
internal sealed class ClusterSeals(
    Sealer self, ISubkeyBudget budget, long packetsPerEpoch = PacketSealer.DefaultPacketsPerEpoch) : IDisposable
{
    /// <summary>Of echoes that look as if they had come before: a node with the key may have made them look so.</summary>
    public const double OldPerSecond = 32;

    private const int Echoes = 512;

    // The tags of echoes that came lately, each at its place. Null until one comes.
    private ulong[]? _echoes;
    private Known? _newest;
    private Known? _before;
    // A key may come back after it was given up, from a service to which this node returns. So each key begins after the epochs of those
    // that were given up.
    private uint _begun;

    /// <summary>The one to seal under, and its label; null before there is one.</summary>
    public (KeySeal Seal, uint Label)? Newest => _newest is { } newest ? (newest.Seal, newest.Key.Label) : null;

    public ClusterKey? NewestKey => _newest?.Key;

    /// <summary>The cluster has this key.</summary>
    /// <param name="key">The key.</param>
    /// <param name="isOfAnother">
    /// Whether it comes from another service than the keys before: it is the newest then, as the numbers of two services say nothing of
    /// their order. Those of one service do.
    /// </param>
    public void Add(ClusterKey key, bool isOfAnother = false)
    {
        bool isLate = !isOfAnother && (key == _before?.Key || key.Configuration < _newest?.Key.Configuration);
        if (key == _newest?.Key || isLate)
        {
            return;
        }

        if (key == _before?.Key)
        {
            (_newest, _before) = (_before, _newest);
            return;
        }

        _begun = _before?.Seal.GiveUp(_begun) ?? _begun;
        _before = _newest;
        var opener = new PacketOpener(key.Key, budget, opensOld: true);
        _newest = new Known(key, new KeySeal(key.Key, self, budget, packetsPerEpoch, begun: _begun) { Opener = opener });
    }

    /// <summary>Opens a whole packet where it lies, or says why not. On the wire its view number is the label of the key.</summary>
    public DropReason Open(Span<byte> packet)
    {
        var header = new PacketHeader(packet);
        if (header.Kind is not (PacketKind.Echo or PacketKind.EchoReply))
        {
            return DropReason.NotMember;
        }

        if (Find(header.View) is not { } seal)
        {
            return DropReason.UnknownKey;
        }

        var kind = header.Kind;
        var refused = seal.Opener.Open(packet, SealedPacket.SealerOf(packet));
        if (kind == PacketKind.Echo && refused is DropReason.None or DropReason.Replayed)
        {
            refused = Note(packet, refused);
        }
        else if (refused == DropReason.Replayed)
        {
            // A reply counts once for its echo, whatever its counter.
            refused = DropReason.None;
        }

        if (refused == DropReason.None)
        {
            BinaryPrimitives.WriteUInt32LittleEndian(packet[PacketHeader.ViewOffset..], 0);
        }

        return refused;
    }

    public KeySeal? Find(uint label) =>
        _newest?.Key.Label == label ? _newest.Seal : _before?.Key.Label == label ? _before.Seal : null;

    /// <summary>The key that the epoch of a view's rest names; null: it is not known.</summary>
    public ClusterKey? KeyOfRest(uint epoch) =>
        _newest is not null && KeyEpochs.Names(epoch, _newest.Key.Label) ? _newest.Key
        : _before is not null && KeyEpochs.Names(epoch, _before.Key.Label) ? _before.Key
        : null;

    // An echo that looks old may be one that comes again, or genuine: then another node has sealed others in the name of its sealer. Of
    // those that did not come lately, some are answered, and their content is not used.
    private DropReason Note(Span<byte> packet, DropReason refused)
    {
        ulong tag = BinaryPrimitives.ReadUInt64LittleEndian(SealedPacket.Tag(packet));
        ref ulong last = ref (_echoes ??= new ulong[Echoes])[tag % Echoes];
        bool isKnown = last == tag;
        last = tag;
        if (refused == DropReason.None)
        {
            return DropReason.None;
        }

        EchoPacket.ClearFound(packet[PacketHeader.Bytes..^SealedPacket.TrailerBytes]);
        return !isKnown && budget.TryTakeOld() ? DropReason.None : DropReason.Replayed;
    }

    public void Dispose()
    {
        _newest?.Seal.Dispose();
        _before?.Seal.Dispose();
    }

    private sealed record Known(ClusterKey Key, KeySeal Seal);
}
