namespace QuickSilver.Microbenchmarks.Alarms;

// A heap of four children to a node whose entries know their places, so that one is moved or taken back where it lies and
// nothing stale is left. It pays with an array that grows.
internal sealed class IndexedHeap
{
    private const int Children = 4;

    private Entry[] _entries = new Entry[16];
    private int _count;
    private ulong _order;

    public void Schedule(Entry entry, long due)
    {
        bool isLater = due >= entry.Due;
        entry.Due = due;
        entry.Order = _order++;
        if (entry.Place < 0)
        {
            if (_count == _entries.Length)
            {
                Array.Resize(ref _entries, _count * 2);
            }

            SiftUp(entry, _count++);
        }
        else if (isLater)
        {
            SiftDown(entry, entry.Place);
        }
        else
        {
            SiftUp(entry, entry.Place);
        }
    }

    public void Cancel(Entry entry)
    {
        int place = entry.Place;
        if (place < 0)
        {
            return;
        }

        entry.Place = -1;
        var last = _entries[--_count];
        _entries[_count] = null!;
        if (ReferenceEquals(last, entry))
        {
            return;
        }

        if (place > 0 && IsBefore(last, _entries[(place - 1) / Children]))
        {
            SiftUp(last, place);
        }
        else
        {
            SiftDown(last, place);
        }
    }

    public bool TryPeekDue(out long due)
    {
        due = _count > 0 ? _entries[0].Due : 0;
        return _count > 0;
    }

    public Entry? TakeDue(long now)
    {
        if (_count == 0 || _entries[0].Due > now)
        {
            return null;
        }

        var first = _entries[0];
        Cancel(first);
        return first;
    }

    private void SiftUp(Entry entry, int place)
    {
        while (place > 0)
        {
            int above = (place - 1) / Children;
            if (!IsBefore(entry, _entries[above]))
            {
                break;
            }

            Put(_entries[above], place);
            place = above;
        }

        Put(entry, place);
    }

    private void SiftDown(Entry entry, int place)
    {
        for (int child = (place * Children) + 1; child < _count; child = (place * Children) + 1)
        {
            int least = child;
            for (int other = child + 1; other < Math.Min(child + Children, _count); other++)
            {
                least = IsBefore(_entries[other], _entries[least]) ? other : least;
            }

            if (!IsBefore(_entries[least], entry))
            {
                break;
            }

            Put(_entries[least], place);
            place = least;
        }

        Put(entry, place);
    }

    private void Put(Entry entry, int place)
    {
        _entries[place] = entry;
        entry.Place = place;
    }

    private static bool IsBefore(Entry one, Entry other) => one.Due < other.Due || (one.Due == other.Due && one.Order < other.Order);

    internal sealed class Entry
    {
        public long Due;
        public ulong Order;
        public int Place = -1;
    }
}
