namespace QuickSilver.Core.Buffers;

// Places of one packet each, cut from blocks of packet memory that are reserved for them. What is kept in a run pins a block of
// 64 KiB; while memory is short, what a stream cannot do without is copied into a place, which pins its own bytes only and
// returns by itself.
//
// Every stream gets one place as long as there are any, since with one it continues, packet by packet, whatever the others hold; more
// than one only while over half of the places are free. So streams stand still only when there are more of them than half of the
// places: 704 with the least memory and packets of 1,472 bytes.
internal sealed class PacketPlaces(SlabPool pool, int packetBytes) : ILeaseHome
{
    private readonly List<Block> _blocks = [];
    private readonly Dictionary<Lease, Block> _blockOf = [];

    public LeaseTracker? Tracker => null;

    /// <summary>Places that are taken.</summary>
    public int Taken { get; private set; }

    /// <summary>Places in all.</summary>
    public long Count => pool.Shares.Places * PlacesInBlock;

    private int PlacesInBlock => SlabPool.BlockBytes / packetBytes;

    /// <summary>Whether a stream that has so many places may take another.</summary>
    public bool Allows(int taken) => taken == 0 ? Taken < Count : Taken < Count / 2;

    /// <summary>A place with one claim on it, or null when none is free or the stream has enough.</summary>
    /// <param name="taken">How many the stream has.</param>
    public Lease? TryTake(int taken)
    {
        if (!Allows(taken) || (Find() ?? Cut()) is not { } block)
        {
            return null;
        }

        var place = block.Free.Pop();
        place.Begin();
        Taken++;
        return place;
    }

    void ILeaseHome.Return(Lease place)
    {
        var block = _blockOf[place];
        block.Free.Push(place);
        Taken--;
        if (block.Free.Count < PlacesInBlock)
        {
            return;
        }

        foreach (var free in block.Free)
        {
            _blockOf.Remove(free);
        }

        _blocks.Remove(block);
        pool.ReturnFromPlaces(block.Whole);
    }

    private Block? Find()
    {
        foreach (var block in _blocks)
        {
            if (block.Free.Count > 0)
            {
                return block;
            }
        }

        return null;
    }

    private Block? Cut()
    {
        if (pool.TryRentForPlaces() is not { } whole)
        {
            return null;
        }

        var block = new Block(whole);
        for (int i = PlacesInBlock - 1; i >= 0; i--)
        {
            var place = new Lease(this, whole.Slab, whole.Start + (i * packetBytes), packetBytes);
            block.Free.Push(place);
            _blockOf.Add(place, block);
        }

        _blocks.Add(block);
        return block;
    }

    private sealed record Block(Lease Whole)
    {
        public Stack<Lease> Free { get; } = new();
    }
}
