using QuickSilver.Core.Sealing;

namespace QuickSilver.Multicast.Sealing;

// The keys of one view at one node: that of the view, and those of its rest. A node that was removed has the key of each view that was open
// then, and the members continue in these views until they are settled. So what they send there after the removal is sealed under a key of
// the rest of the view, derived of its key and of the cluster's, which the service replaces at each removal.
//
// Nodes learn of a removal at different times. A member that does not know of it yet seals under the view's key, which all accept; what
// comes to it under the cluster's next key is kept until its configuration comes, as if the view were not known.
//
// Invariant: the rest is sealed under the newest key of the cluster, and the last two are opened.
/// <param name="configuration">That of the view.</param>
/// <param name="key">That of the view.</param>
/// <param name="self">This node.</param>
/// <param name="budget">Of subkeys.</param>
/// <param name="packetsPerEpoch">After which a subkey is replaced.</param>
internal sealed class ViewSeals(long configuration, SecretKey key, Sealer self, ISubkeyBudget budget, long packetsPerEpoch) : IDisposable
{
    private readonly KeySeal _view = new(key, self, budget, packetsPerEpoch);
    private Rest? _newest;
    private Rest? _before;
    // As for the keys of the cluster: a rest that was given up may come back.
    private uint _begun;
    private bool _isSuperseded;
    // A key of another service has come since the node learned of the view: the numbers of keys no longer show their order.
    private bool _isOutlived;
    private ClusterKey? _cluster;

    /// <summary>To seal under.</summary>
    public KeySeal Current => _cluster is null ? _view : OfRest(_cluster).Seal;

    /// <summary>Whether the view is over. Little is opened of it, and nothing that was derived for that is kept.</summary>
    public bool IsClosed { get; private set; }

    /// <summary>Another view follows, or none.</summary>
    /// <param name="cluster">The newest key of the cluster.</param>
    public void Supersede(ClusterKey? cluster)
    {
        _isSuperseded = true;
        OnClusterKey(cluster, isOfAnother: false);
    }

    /// <summary>The view is in sight again, and is the newest of its region.</summary>
    public void Resume() => (_isSuperseded, _cluster, IsClosed) = (false, null, false);

    /// <summary>The cluster has a key, or another one.</summary>
    /// <param name="cluster">The newest.</param>
    /// <param name="isOfAnother">Whether it comes from another service than the keys before.</param>
    public void OnClusterKey(ClusterKey? cluster, bool isOfAnother)
    {
        _isOutlived |= isOfAnother;
        // A node that was removed when an older key of this service was made never had the key of the view.
        if (_isSuperseded && cluster is not null && (_isOutlived || cluster.Configuration > configuration))
        {
            _cluster = cluster;
        }
    }

    /// <summary>To open a packet of this epoch under; null: a key of the cluster is not known.</summary>
    public KeySeal? Find(uint epoch, ClusterSeals? cluster) =>
        !KeyEpochs.IsOfRest(epoch) ? _view : cluster?.KeyOfRest(epoch) is { } named ? OfRest(named).Seal : null;

    /// <summary>The sealers of which it is known what has come.</summary>
    public int Sealers => _view.Opener.Count + (_newest?.Seal.Opener.Count ?? 0) + (_before?.Seal.Opener.Count ?? 0);

    /// <summary>
    /// Gives up what was derived of the keys, and remembers what has come. It is derived again when it is needed.
    /// </summary>
    public void Close()
    {
        IsClosed = true;
        _view.Rest();
        _newest?.Seal.Rest();
        _before?.Seal.Rest();
    }

    public void Dispose()
    {
        _view.Dispose();
        _newest?.Seal.Dispose();
        _before?.Seal.Dispose();
    }

    private Rest OfRest(ClusterKey cluster)
    {
        // By content: a service to which this node returns sends a key again.
        if (_newest?.Cluster == cluster)
        {
            return _newest;
        }

        if (_before?.Cluster == cluster)
        {
            return _before;
        }

        _begun = _before?.Seal.GiveUp(_begun) ?? _begun;
        var epochs = KeyEpochs.OfRest(cluster.Label);
        var rest = new Rest(cluster, new KeySeal(key.OfRest(cluster.Key), self, budget, packetsPerEpoch, epochs, _begun));
        bool isNewest = _newest is null || cluster == _cluster || cluster.Configuration > _newest.Cluster.Configuration;
        (_before, _newest) = isNewest ? (_newest, rest) : (rest, _newest);
        return rest;
    }

    private sealed record Rest(ClusterKey Cluster, KeySeal Seal);
}
