using QuickSilver.Core.Wire;

namespace QuickSilver.Core.Sealing;

// Opens what others have sealed under one key. A subkey is derived when the first packet of its sealer and epoch comes, and kept if that
// packet is genuine: a sender without the key cannot fill a table. Of each sealer the last two epochs are kept, as packets overtake each
// other.
//
// A stranger reads on the network who seals under a key, and can claim the next epoch of one of them again and again. So a few subkeys are
// kept that were claimed and not shown yet: the claims then take nothing of the budget, of which the first genuine packet needs some.
//
// What goes wrong: a node with the key can seal in the name of another sealer, with any epoch and any counter, and so let what that one
// seals look old. Under the key of a view, that node is a member, and could do worse there. Every node has the key of the cluster, so
// there nothing genuine is refused for its age: it counts as come before (Replayed), and the caller says how much of that is taken.
/// <param name="key">The key.</param>
/// <param name="budget">Of subkeys.</param>
/// <param name="opensOld">Whether packets of epochs that are over are opened, to count as come before.</param>
internal sealed class PacketOpener(SecretKey key, ISubkeyBudget budget, bool opensOld = false) : IDisposable
{
    // Nodes that hold the key. More have it only under a key of the cluster, in which no node was removed for that long.
    private const int MostSealers = 16_384;
    private const int MostClaimed = 16;

    private readonly Dictionary<Sealer, SealerKeys> _sealers = [];
    // Those of the next epoch of their sealer, the oldest first; null until a packet was not genuine.
    private List<(Sealer Sealer, Subkey Subkey)>? _claimed;
    private SealerKeys? _last;

    /// <summary>The sealers of which it is known what has come.</summary>
    public int Count => _sealers.Count;

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

    /// <summary>
    /// Gives up what was derived, and all of the windows but their ends: what comes again is still refused, and so is what comes late.
    /// </summary>
    public void Rest()
    {
        foreach (var keys in _sealers.Values)
        {
            keys.Rest();
        }

        ForgetClaimed();
        _last = null;
    }

    /// <summary>The same, for one sealer.</summary>
    public void Rest(Sealer sealer)
    {
        _sealers.GetValueOrDefault(sealer)?.Rest();
        ForgetClaimed();
        _last = null;
    }

    /// <summary>Gives up what was derived, and forgets what has come.</summary>
    public void Dispose()
    {
        foreach (var keys in _sealers.Values)
        {
            keys.Dispose();
        }

        _sealers.Clear();
        ForgetClaimed();
        _last = null;
    }

    private DropReason OpenFirst(Span<byte> packet, Sealer sealer, SealerKeys? keys, uint epoch)
    {
        bool isOld = keys is not null && epoch < keys.Newest;
        if (isOld && !opensOld)
        {
            return DropReason.UnknownKey;
        }

        int claimed = FindClaimed(sealer, epoch);
        if (claimed < 0 && !budget.TryTake())
        {
            return DropReason.RateLimited;
        }

        bool isData = SealedPacket.IsData(new PacketHeader(packet).Kind);
        ulong counter = SealedPacket.CounterOf(packet);
        var subkey = claimed < 0 ? new Subkey(key, sealer, epoch) : _claimed![claimed].Subkey;
        if (!subkey.TryOpen(packet))
        {
            if (claimed < 0)
            {
                Keep(sealer, subkey, isNext: epoch == (keys?.Newest ?? 0) + 1);
            }

            return DropReason.NotAuthentic;
        }

        if (claimed >= 0)
        {
            _claimed!.RemoveAt(claimed);
        }

        if (isOld)
        {
            subkey.Dispose();
            return isData ? DropReason.None : DropReason.Replayed;
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

    private int FindClaimed(Sealer sealer, uint epoch)
    {
        for (int i = 0; i < _claimed?.Count; i++)
        {
            if (_claimed[i].Sealer == sealer && _claimed[i].Subkey.Epoch == epoch)
            {
                return i;
            }
        }

        return -1;
    }

    private void Keep(Sealer sealer, Subkey subkey, bool isNext)
    {
        if (!isNext)
        {
            subkey.Dispose();
            return;
        }

        _claimed ??= new List<(Sealer, Subkey)>(MostClaimed);
        if (_claimed.Count == MostClaimed)
        {
            _claimed[0].Subkey.Dispose();
            _claimed.RemoveAt(0);
        }

        _claimed.Add((sealer, subkey));
    }

    private void ForgetClaimed()
    {
        _claimed?.ForEach(static one => one.Subkey.Dispose());
        _claimed = null;
    }

    // The subkeys of one sealer.
    private sealed class SealerKeys(Sealer sealer) : IDisposable
    {
        // Far below where forgery becomes likely, which is beyond 2^50 for packets of this size (RFC 9001, section 6.6).
        public const long MostFailures = 1L << 36;

        private KeptSubkey? _newest;
        private KeptSubkey? _before;
        // What has come when nothing is derived: all up to this counter of this epoch.
        private (uint Epoch, ulong Counter) _rested;

        public Sealer Sealer => sealer;

        public uint Newest => _newest?.Subkey.Epoch ?? _rested.Epoch;

        public KeptSubkey? Find(uint epoch) =>
            _newest?.Subkey.Epoch == epoch ? _newest : _before?.Subkey.Epoch == epoch ? _before : null;

        public KeptSubkey Add(Subkey subkey)
        {
            _before?.Subkey.Dispose();
            (_before, _newest) = (_newest, new KeptSubkey(subkey, subkey.Epoch == _rested.Epoch ? _rested.Counter : 0));
            return _newest;
        }

        public void Rest()
        {
            if (_newest is not null)
            {
                _rested = (Newest, _newest.Highest);
                Dispose();
                (_before, _newest) = (null, null);
            }
        }

        public void Dispose()
        {
            _newest?.Subkey.Dispose();
            _before?.Subkey.Dispose();
        }
    }

    private sealed class KeptSubkey(Subkey subkey, ulong through)
    {
        // Null until a packet comes that is not data: what data repeats, the stream drops.
        private ReplayWindow? _window;

        public Subkey Subkey => subkey;

        public long Failures { get; set; }

        public ulong Highest => _window?.Highest ?? through;

        public bool TryNote(ulong counter) => (_window ??= new ReplayWindow(through)).TryNote(counter);
    }
}

// What may be spent on packets that may turn out not to be genuine, or not to be new.
internal interface ISubkeyBudget
{
    /// <summary>Whether a subkey may be derived for a packet that may not be genuine.</summary>
    bool TryTake();

    /// <summary>Whether a packet may be taken that is genuine, and may have come before.</summary>
    bool TryTakeOld();
}
