using QuickSilver.Core.Wire;

namespace QuickSilver.Core.Sealing;

// Opens what others have sealed under one key. A subkey is derived when the first packet of its sealer and epoch comes, and kept if that
// packet is genuine: nobody without the key can fill a table. Of each sealer the last two epochs are kept, as packets overtake each other.
internal sealed class PacketOpener(SecretKey key, ISubkeyBudget budget) : IDisposable
{
    // Nodes that hold the key. More have it only under a key of the cluster, in which nobody was removed for that long.
    private const int MostSealers = 16_384;

    private readonly Dictionary<Sealer, SealerKeys> _sealers = [];
    private SealerKeys? _last;

    /// <summary>Opens a packet where it lies, or says why not. What is refused may be destroyed.</summary>
    public DropReason Open(Span<byte> packet, Sealer sealer)
    {
        if (_last is not { } keys || keys.Sealer != sealer)
        {
            keys = _sealers.GetValueOrDefault(sealer);
        }

        var header = new PacketHeader(packet);
        uint epoch = header.KeyEpoch;
        if (keys?.Find(epoch) is not { } subkey)
        {
            return OpenFirst(packet, sealer, keys, epoch);
        }

        _last = keys;
        if (subkey.Failures >= SealerKeys.MostFailures)
        {
            return DropReason.UnknownKey;
        }

        bool isData = SealedPacket.IsData(header.Kind);
        ulong counter = SealedPacket.CounterOf(packet);
        if (!subkey.Subkey.TryOpen(packet))
        {
            subkey.Failures++;
            return DropReason.NotAuthentic;
        }

        return isData || subkey.TryNote(counter) ? DropReason.None : DropReason.Replayed;
    }

    public void Dispose()
    {
        foreach (var keys in _sealers.Values)
        {
            keys.Dispose();
        }

        _sealers.Clear();
        _last = null;
    }

    private DropReason OpenFirst(Span<byte> packet, Sealer sealer, SealerKeys? keys, uint epoch)
    {
        if (keys is not null && epoch < keys.Newest)
        {
            return DropReason.UnknownKey;
        }

        if (!budget.TryTake())
        {
            return DropReason.RateLimited;
        }

        bool isData = SealedPacket.IsData(new PacketHeader(packet).Kind);
        ulong counter = SealedPacket.CounterOf(packet);
        var subkey = new Subkey(key, sealer, epoch);
        if (!subkey.TryOpen(packet))
        {
            subkey.Dispose();
            return DropReason.NotAuthentic;
        }

        if (keys is null)
        {
            if (_sealers.Count >= MostSealers)
            {
                Dispose();
            }

            _sealers.Add(sealer, keys = new SealerKeys(sealer));
        }

        var kept = keys.Add(subkey);
        _last = keys;
        return isData || kept.TryNote(counter) ? DropReason.None : DropReason.Replayed;
    }

    // The subkeys of one sealer.
    private sealed class SealerKeys(Sealer sealer) : IDisposable
    {
        // Far below where forgery becomes likely, which is beyond 2^50 for packets of this size (RFC 9001, section 6.6).
        public const long MostFailures = 1L << 36;

        private KeptSubkey? _newest;
        private KeptSubkey? _before;

        public Sealer Sealer => sealer;

        public uint Newest => _newest?.Subkey.Epoch ?? 0;

        public KeptSubkey? Find(uint epoch) =>
            _newest?.Subkey.Epoch == epoch ? _newest : _before?.Subkey.Epoch == epoch ? _before : null;

        public KeptSubkey Add(Subkey subkey)
        {
            _before?.Subkey.Dispose();
            (_before, _newest) = (_newest, new KeptSubkey(subkey));
            return _newest;
        }

        public void Dispose()
        {
            _newest?.Subkey.Dispose();
            _before?.Subkey.Dispose();
        }
    }

    private sealed class KeptSubkey(Subkey subkey)
    {
        // Null until a packet comes that is not data: what data repeats, the stream drops.
        private ReplayWindow? _window;

        public Subkey Subkey => subkey;

        public long Failures { get; set; }

        public bool TryNote(ulong counter) => (_window ??= new ReplayWindow()).TryNote(counter);
    }
}

// How many subkeys may be derived for packets that may turn out not to be genuine.
internal interface ISubkeyBudget
{
    bool TryTake();
}
