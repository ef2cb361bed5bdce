using System.Buffers;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Multicast.Protocols.Transfers;

namespace QuickSilver.Groups.States;

// Seeks the state for a member that does not have it: asks the other members, the oldest first, until one has given all of it. What one
// gives is never mixed with what another one gives. Core thread only.
//
// What ends a wait: a donor that is silent or gone is given up by the transfer, one that does not write its state by this. Then the next
// one is asked, and all of them again after a pause.
internal sealed class StateSeeker(
    IProtocolNode node, ITransfers transfers, ulong topic, string name, IStateMember member) : ITransferTaker, IProtocolWait
{
    // Each is a second. A state that takes longer to write is not waited for.
    private const int MostWaits = 30;

    private readonly HashSet<NodeId> _without = [];
    private StateSearch? _search;
    private ITransfer? _transfer;
    // Of the present donor: where its state is, its size, and what came of it.
    private StatePlace? _place;
    private long _size;
    private ArrayBufferWriter<byte> _state = new();
    private int _waits;
    private bool _isClosed;

    public bool IsSeeking => _search is not null;

    /// <summary>The member that is asked; null while there is none.</summary>
    public NodeKey? Donor => _transfer?.Donor;

    public long Progress { get; private set; }

    public string What => $"This node waits for the state of group \"{name}\"";

    public string? WaitsFor => Donor is { } donor ? $"node {node.Named(donor)}" : "a member that has it";

    private NodeId Self => IdOf(node.Self);

    /// <summary>Begins, or continues in a new view or with a new need.</summary>
    public void Seek(StateSearch search)
    {
        if (_isClosed)
        {
            return;
        }

        if (_search is null)
        {
            node.OnWait();
        }

        if (_search?.View != search.View)
        {
            _without.Clear();
        }

        _search = search;
        if (_transfer is null || search.IsNew || _place?.Covers(search.Needed) == false)
        {
            Restart(search);
        }
    }

    public void Stop()
    {
        _search = null;
        _transfer?.Cancel();
        _transfer = null;
        Forget();
    }

    /// <summary>The member leaves the group.</summary>
    public void Close()
    {
        _isClosed = true;
        Stop();
    }

    public void AddDonors(List<NodeKey> donors)
    {
        foreach (var one in _search!.Members)
        {
            if (one != Self)
            {
                donors.Add(new NodeKey(one.Id, one.Incarnation));
            }
        }
    }

    public TransferStep OnChunk(NodeKey donor, ReadOnlySpan<byte> chunk, long through)
    {
        switch (StateChunk.KindOf(chunk))
        {
            case StateChunkKind.Wait:
                return ++_waits < MostWaits ? TransferStep.Take : TransferStep.Refuse;
            case StateChunkKind.Begin:
                return OnBegin(IdOf(donor), chunk);
            case StateChunkKind.Bytes when _place is not null:
                return OnBytes(IdOf(donor), chunk[StateChunk.KindBytes..]);
            case StateChunkKind.None when StateChunk.TryReadNone(chunk, out long view):
                OnNone(IdOf(donor), view);
                return TransferStep.Refuse;
            case StateChunkKind.TooLarge when StateChunk.TryReadTooLarge(chunk, out long size, out long limit):
                member.OnTooLarge(IdOf(donor), size, limit);
                return TransferStep.Refuse;
            default:
                return TransferStep.Refuse;
        }
    }

    public void OnEnd(NodeKey donor) => Restart(_search!);

    public void OnFailed(NodeKey donor, TransferFailure failure) => Forget();

    public void OnLettersEnded(Exception reason)
    {
        _transfer = null;
        Stop();
        member.OnUnattainable(reason);
    }

    private static NodeId IdOf(NodeKey key) => new(key.Id, key.Incarnation);

    private TransferStep OnBegin(NodeId donor, ReadOnlySpan<byte> chunk)
    {
        Forget();
        if (!StateChunk.TryReadBegin(chunk, out var place, out long size) || !place.Covers(_search!.Needed))
        {
            return TransferStep.Refuse;
        }

        if (size > member.MostBytes)
        {
            member.OnTooLarge(donor, size, member.MostBytes);
            return TransferStep.Refuse;
        }

        (_place, _size) = (place, size);
        return TryComplete(donor);
    }

    private TransferStep OnBytes(NodeId donor, ReadOnlySpan<byte> bytes)
    {
        if (_state.WrittenCount + bytes.Length > _size)
        {
            return TransferStep.Refuse;
        }

        _state.Write(bytes);
        Progress++;
        return TryComplete(donor);
    }

    private TransferStep TryComplete(NodeId donor)
    {
        if (_state.WrittenCount == _size)
        {
            var (place, state) = (_place!, _state.WrittenMemory);
            Stop();
            member.OnState(donor, place, state);
        }

        return TransferStep.Take;
    }

    // Invariant: a member that has answered so in a view takes no state in it from a node that left before it. So if all other members of
    // one view have answered so, none of them can get a state of earlier views, and one member may begin: the oldest.
    private void OnNone(NodeId donor, long view)
    {
        var search = _search!;
        if (view < search.View)
        {
            return;
        }

        _without.Add(donor);
        if (search.Members[0] == Self && search.Members.All(one => one == Self || _without.Contains(one)))
        {
            member.OnNoState(search.View);
        }
    }

    private void Restart(StateSearch search)
    {
        _transfer?.Cancel();
        Forget();
        byte[] subject = StateChunk.Subject(topic, search.Needed.View);
        try
        {
            _transfer = transfers.Take(subject, from: 0, $"the state of group \"{name}\"", this);
        }
        catch (InvalidOperationException exception)
        {
            _transfer = null;
            member.OnUnattainable(exception);
        }
    }

    private void Forget()
    {
        _place = null;
        _size = 0;
        _waits = 0;
        _state = new ArrayBufferWriter<byte>();
    }
}
