using System.Runtime.CompilerServices;
using QuickSilver.Core.Environment;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Multicast.Sending.Acknowledgement;

// The wait of one message until it is stable in every region to which it was sent. The stream into each region releases the claim once.
// Claims are pooled per node.
internal sealed class StabilityClaim(ClaimPool pool)
{
    private IStabilityObserver? _observer;
    private long _sequence;
    private int _streams;
    private string? _abandoned;

    public void Begin(IStabilityObserver observer, long sequence, int streams)
    {
        _observer = observer;
        _sequence = sequence;
        _streams = streams;
        _abandoned = null;
    }

    public void Release()
    {
        if (--_streams > 0)
        {
            return;
        }

        var observer = _observer!;
        var (sequence, abandoned) = (_sequence, _abandoned);
        _observer = null;
        pool.Return(this);
        if (abandoned is null)
        {
            observer.OnStable(sequence);
        }
        else
        {
            observer.OnAbandoned(sequence, abandoned);
        }
    }

    public void Abandon(string reason)
    {
        _abandoned = reason;
        Release();
    }
}

// The claims of one stream, by the packet in which each message ends.
internal struct StreamClaims()
{
    private readonly Queue<(long Packet, StabilityClaim Claim)> _claims = new();
    // For how many claims more the queue has room. It is read for each message.
    private int _room;

    /// <summary>Whether so many claims more need larger memory.</summary>
    public readonly bool IsTight(int claims) => claims > _room;

    /// <summary>Makes room for so many claims more, so that adding them cannot fail.</summary>
    /// <exception cref="OutOfMemoryException">There is no memory.</exception>
    public void Reserve(int claims, NodeHeap heap)
    {
        if (IsTight(claims))
        {
            heap.Ask(HeapUse.SenderTables, Math.Max(2L * _claims.Count, _claims.Count + claims) * Unsafe.SizeOf<(long, StabilityClaim)>());
            _room = _claims.EnsureCapacity(_claims.Count + claims) - _claims.Count;
        }
    }

    public void Add(long packet, StabilityClaim claim)
    {
        _claims.Enqueue((packet, claim));
        _room--;
    }

    /// <summary>Releases the claims of all packets up to and including this one, which are held.</summary>
    public void ReleaseThrough(long packet)
    {
        while (_claims.TryPeek(out var claim) && claim.Packet <= packet)
        {
            _claims.Dequeue();
            _room++;
            claim.Claim.Release();
        }
    }

    public void Abandon(string reason)
    {
        while (_claims.TryDequeue(out var claim))
        {
            claim.Claim.Abandon(reason);
        }
    }
}

// The claims of a node that are not in use. It keeps as many as one burst of publishing needed, up to a limit.
internal sealed class ClaimPool
{
    public const int MostKept = 1 << 14;

    private readonly Stack<StabilityClaim> _free = [];

    /// <summary>Gets a claim of a message that is sent into so many streams.</summary>
    public StabilityClaim Rent(IStabilityObserver observer, long sequence, int streams)
    {
        if (!_free.TryPop(out var claim))
        {
            claim = new StabilityClaim(this);
        }

        claim.Begin(observer, sequence, streams);
        return claim;
    }

    public void Return(StabilityClaim claim)
    {
        if (_free.Count < MostKept)
        {
            _free.Push(claim);
        }
    }
}
