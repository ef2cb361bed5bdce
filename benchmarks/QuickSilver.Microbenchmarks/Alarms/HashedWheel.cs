using System.Numerics;

namespace QuickSilver.Microbenchmarks.Alarms;

// A hashed timing wheel (Varghese and Lauck, scheme 6): an alarm hangs in the slot of its instant modulo one turn, so that
// setting, moving and taking back cost the same however many are pending. It pays where the splay tree does not: it fires
// up to one slot late and in no order within a slot, an alarm further off than one turn is passed over once a turn, and
// asking when the next is due searches the slots, here by a bit for each.
internal sealed class HashedWheel
{
    // A turn of 105 ms in slots of 25.6 microseconds: an eleventh of the shortest alarm of a node.
    private const int Slots = 4096;
    private const long TicksPerSlot = 256;

    private readonly Entry?[] _slots = new Entry?[Slots];
    private readonly ulong[] _occupied = new ulong[Slots / 64];
    // All slots before this one, counted from the beginning of time, are empty of what is due in them.
    private long _cursor;
    private int _count;

    public void Schedule(Entry entry, long due)
    {
        Cancel(entry);
        long at = Math.Max((due + TicksPerSlot - 1) / TicksPerSlot, _cursor);
        int slot = (int)(at & (Slots - 1));
        entry.At = at;
        entry.Next = _slots[slot];
        entry.Previous = null;
        entry.Next?.Previous = entry;
        entry.IsPending = true;
        _slots[slot] = entry;
        _occupied[slot >> 6] |= 1ul << (slot & 63);
        _count++;
    }

    public void Cancel(Entry entry)
    {
        if (!entry.IsPending)
        {
            return;
        }

        entry.IsPending = false;
        entry.Next?.Previous = entry.Previous;
        _count--;
        if (entry.Previous is { } previous)
        {
            previous.Next = entry.Next;
            return;
        }

        int slot = (int)(entry.At & (Slots - 1));
        _slots[slot] = entry.Next;
        if (entry.Next is null)
        {
            _occupied[slot >> 6] &= ~(1ul << (slot & 63));
        }
    }

    public bool TryPeekDue(out long due)
    {
        due = 0;
        if (_count == 0)
        {
            return false;
        }

        for (long at = NextOccupied(_cursor, _cursor + Slots); at < _cursor + Slots; at = NextOccupied(at + 1, _cursor + Slots))
        {
            if (FindAt(at) is not null)
            {
                due = at * TicksPerSlot;
                return true;
            }
        }

        due = NearestTurn() * TicksPerSlot;
        return true;
    }

    public Entry? TakeDue(long now)
    {
        for (long last = now / TicksPerSlot; _cursor <= last; _cursor = NextOccupied(_cursor + 1, last + 1))
        {
            if (FindAt(_cursor) is { } entry)
            {
                Cancel(entry);
                return entry;
            }
        }

        return null;
    }

    private Entry? FindAt(long at)
    {
        var entry = _slots[at & (Slots - 1)];
        while (entry is not null && entry.At > at)
        {
            entry = entry.Next;
        }

        return entry;
    }

    // Nothing is due within a turn: only then are all looked at.
    private long NearestTurn()
    {
        long nearest = long.MaxValue;
        foreach (var head in _slots)
        {
            for (var entry = head; entry is not null; entry = entry.Next)
            {
                nearest = Math.Min(nearest, entry.At);
            }
        }

        return nearest;
    }

    // The first slot from `from` on with a bit set, or `end`.
    private long NextOccupied(long from, long end)
    {
        while (from < end)
        {
            int slot = (int)(from & (Slots - 1));
            ulong word = _occupied[slot >> 6] >> (slot & 63);
            if (word != 0)
            {
                return Math.Min(from + BitOperations.TrailingZeroCount(word), end);
            }

            from += 64 - (slot & 63);
        }

        return end;
    }

    internal sealed class Entry
    {
        public Entry? Next;
        public Entry? Previous;
        public long At;
        public bool IsPending;
    }
}
