using QuickSilver.Core.Environment;
using QuickSilver.Core.Flow;
using QuickSilver.Core.Sealing;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Multicast.Sending;
using QuickSilver.Multicast.Views;

namespace QuickSilver.Multicast.Sealing;

// The keys of a node: of each view that it was notified of, as long as it has the view open, and the keys of the cluster. Seals what the
// node sends and opens what it receives.
//
// A view that is superseded is sealed under the key of its rest if a node was removed since the view was made (ViewSeals).
//
// A view that was closed is remembered with its key for as long as other nodes may still ask about it (ClosedViews), but without what was
// derived of the key. What has come of it is remembered too, so that nothing that was captured is answered: of each sealer its last
// counter, and of so many sealers at most that they take some MiB. Beyond that, the views that were closed first are forgotten sooner.
//
// Invariant: a view's key is never added again once it was forgotten, as the service notifies no node of a view that it has superseded. So
// counters never begin again under a key.
internal sealed class KeyRing(INodeEnvironment environment, NodeOptions options) : ISubkeyBudget, IDisposable
{
    // Each takes some microseconds: a stranger that claims to be one sealer after another takes some percent of a processor. A genuine
    // packet that finds no budget is repaired or repeated, and one is enough.
    private const double DerivationsPerSecond = 4_000;

    // Some 100 bytes for each.
    private const int MostSealersOfClosed = 1 << 16;

    private static readonly TimeSpan ClosedAge = ClosedViews.Age;

    private readonly Dictionary<(ulong Region, uint View), ViewSeals> _views = [];
    // The newest view of each region.
    private readonly Dictionary<ulong, uint> _current = [];
    private readonly List<(ulong Region, uint View)> _superseded = [];
    private readonly Queue<((ulong Region, uint View) View, TimeSpan At)> _closed = new();
    private readonly RateLimit _derivations = new(environment.Now, DerivationsPerSecond, DerivationsPerSecond);
    private RateLimit? _old;
    // Those of the views that were closed.
    private int _sealersOfClosed;
    // Whose configuration was applied last.
    private ulong _service;
    private NodeContext? _context;
    private Sealer _self;
    private ClusterSeals? _cluster;
    // The views of the last packets: nearly all packets are of the same few views.
    private (ulong Region, uint View, ViewSeals? Seals) _sent;
    private (ulong Region, uint View, ViewSeals? Seals) _received;
    private byte[]? _scratch;

    /// <summary>Views whose keys are known, closed ones included; for diagnostics.</summary>
    public int Count => _views.Count;

    private ClusterSeals Cluster => _cluster ??= new ClusterSeals(_self, this, options.PacketsPerKeyEpoch);

    /// <summary>Called once, when the node knows itself.</summary>
    public void Begin(NodeContext context)
    {
        _context = context;
        _self = new Sealer(context.Self.Id, context.Self.Incarnation);
    }

    /// <summary>A configuration is applied from now on: what is sealed of views that it supersedes is of their rest.</summary>
    public void OnConfiguration(ConfigurationChange change)
    {
        Add(change.ClusterKey, isOfAnother: change.Service != _service);
        _service = change.Service;
        foreach (ulong region in change.RegionsAbsent(_current.Keys))
        {
            Supersede(region);
        }

        foreach (var view in change.Regions)
        {
            if (_current.TryGetValue(view.RegionId, out uint number) && number < view.Number)
            {
                Supersede(view.RegionId);
            }
        }
    }

    /// <summary>The cluster has a key, or another one.</summary>
    /// <param name="key">Null: it is as before.</param>
    /// <param name="isOfAnother">Whether it comes from another service than the keys before.</param>
    public void Add(ClusterKey? key, bool isOfAnother)
    {
        if (key is not null)
        {
            Cluster.Add(key, isOfAnother);
            foreach (var seals in _views.Values)
            {
                seals.OnClusterKey(Cluster.NewestKey, isOfAnother);
            }
        }
    }

    /// <summary>The node was notified of this view. Without its key, it has it, or may not have it.</summary>
    public void Add(RegionView view)
    {
        var id = (view.RegionId, view.Number);
        if (_views.TryGetValue(id, out var known))
        {
            // A region can go out of a node's sight and come back within one view.
            if (_current.TryAdd(view.RegionId, view.Number))
            {
                _superseded.Remove(id);
                _sealersOfClosed -= known.IsClosed ? known.Sealers : 0;
                known.Resume();
            }
        }
        else if (view.Key is { } key)
        {
            _views.Add(id, new ViewSeals(view.Configuration, key, _self, this, options.PacketsPerKeyEpoch));
            _current[view.RegionId] = view.Number;
            ForgetLast();
        }
    }

    public bool Has(RegionView view) => _views.ContainsKey((view.RegionId, view.Number));

    /// <summary>Another view follows the newest one of this region, or none.</summary>
    public void Supersede(ulong region)
    {
        if (_current.Remove(region, out uint number))
        {
            _superseded.Add((region, number));
            _views[(region, number)].Supersede(_cluster?.NewestKey);
        }
    }

    /// <summary>Gives up what was derived of the keys of superseded views that are not in use any more.</summary>
    public void Rest(SentStreams? sent, OpenViews open)
    {
        for (int i = _superseded.Count - 1; i >= 0; i--)
        {
            var view = _superseded[i];
            if (open.Find(view.Region, view.View) is null && !IsSentInto(sent, view.Region, view.View))
            {
                _superseded.RemoveAt(i);
                var seals = _views[view];
                seals.Close();
                _sealersOfClosed += seals.Sealers;
                _closed.Enqueue((view, environment.Now));
            }
        }

        ForgetClosed();
    }

    /// <summary>
    /// Seals a run of packets of one view into memory of the ring, where it stays until the next call. False: the node does not have the
    /// key.
    /// </summary>
    public bool TrySeal(ReadOnlySpan<byte> run, int packetBytes, out ReadOnlySpan<byte> sealedRun)
    {
        sealedRun = default;
        var header = new PacketHeader(run);
        uint? label = null;
        KeySeal? seal;
        if (header.Region == 0)
        {
            if (_cluster?.Newest is not { } newest)
            {
                return false;
            }

            (seal, label) = newest;
        }
        else
        {
            seal = Find(ref _sent, header.Region, header.View)?.Current;
        }

        if (seal is null)
        {
            return false;
        }

        int most = run.Length + ((run.Length + packetBytes - 1) / packetBytes * SealedPacket.TrailerBytes);
        if (_scratch is null || _scratch.Length < most)
        {
            _scratch = GC.AllocateUninitializedArray<byte>(Math.Max(most, 1 << 16), pinned: true);
        }

        int bytes = seal.Sealer.Seal(run, packetBytes, _scratch, label);
        sealedRun = _scratch.AsSpan(0, bytes);
        return true;
    }

    /// <summary>
    /// Opens a whole packet where it lies: it is then as if it had never been sealed. UnknownView: the packet may be kept unchanged,
    /// and opened when the view is known, or the key of the cluster under which its rest is sealed.
    /// </summary>
    public DropReason Open(Span<byte> packet)
    {
        var header = new PacketHeader(packet);
        var sealer = SealedPacket.SealerOf(packet);
        // Members send data of each other again. Of all other packets, the sender is the sealer.
        if (PacketKinds.ClassOf(header.Kind) != PacketClass.Data
            && (header.Sender != sealer.Id || header.Incarnation != sealer.Incarnation))
        {
            return DropReason.NotAuthentic;
        }

        // It is for several views, whose keys it would not need.
        if (header.Kind == PacketKind.Shared)
        {
            return DropReason.NotListed;
        }

        // A node that is not a member yet sends echoes and answers them.
        if (header.Region == 0)
        {
            return _cluster?.Open(packet) ?? DropReason.UnknownKey;
        }

        if (Find(ref _received, header.Region, header.View) is not { } seals)
        {
            return DropReason.UnknownView;
        }

        return seals.IsClosed ? OpenOfClosed(packet, seals, sealer) : OpenOf(packet, seals, sealer, out _);
    }

    public bool TryTake() => _derivations.TryTake(environment.Now, 1);

    public bool TryTakeOld() =>
        (_old ??= new RateLimit(environment.Now, ClusterSeals.OldPerSecond, ClusterSeals.OldPerSecond)).TryTake(environment.Now, 1);

    public void Dispose()
    {
        foreach (var seals in _views.Values)
        {
            seals.Dispose();
        }

        _cluster?.Dispose();
    }

    private static bool IsSentInto(SentStreams? sent, ulong region, uint view)
    {
        foreach (var streamClass in StreamClass.All)
        {
            if (sent?.Find(region, view, streamClass) is not null)
            {
                return true;
            }
        }

        return false;
    }

    private DropReason OpenOf(Span<byte> packet, ViewSeals seals, Sealer sealer, out PacketOpener? opener)
    {
        opener = seals.Find(new PacketHeader(packet).KeyEpoch, _cluster)?.Opener;
        if (opener is null)
        {
            return DropReason.UnknownView;
        }

        // A node that was removed has the keys of its time.
        return _context!.Directory.Contains(new NodeKey(sealer.Id, sealer.Incarnation))
            ? opener.Open(packet, sealer)
            : DropReason.UnknownSender;
    }

    private DropReason OpenOfClosed(Span<byte> packet, ViewSeals seals, Sealer sealer)
    {
        int before = seals.Sealers;
        var refused = OpenOf(packet, seals, sealer, out var opener);
        opener?.Rest(sealer);
        _sealersOfClosed += seals.Sealers - before;
        ForgetClosed();
        return refused;
    }

    private void ForgetClosed()
    {
        while (_closed.TryPeek(out var oldest)
            && (environment.Now - oldest.At >= ClosedAge || _closed.Count > ClosedViews.Most || _sealersOfClosed > MostSealersOfClosed))
        {
            _closed.Dequeue();
            if (_views.TryGetValue(oldest.View, out var seals) && seals.IsClosed)
            {
                _views.Remove(oldest.View);
                _sealersOfClosed -= seals.Sealers;
                seals.Dispose();
                ForgetLast();
            }
        }
    }

    private ViewSeals? Find(ref (ulong Region, uint View, ViewSeals? Seals) last, ulong region, uint view)
    {
        if (last.Seals is null || last.Region != region || last.View != view)
        {
            last = (region, view, _views.GetValueOrDefault((region, view)));
        }

        return last.Seals;
    }

    private void ForgetLast() => (_sent, _received) = (default, default);
}
