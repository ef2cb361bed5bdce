namespace QuickSilver.RequestReply.Pending;

// The requests that wait for answers, in a fixed number of places. Lock-free: any thread adds and removes, the core thread finds and looks
// through all.
//
// Free places are a stack, linked by index. Its head has a count of its changes beside the index, so that a thread that read the head
// before others took and returned the place does not mistake it for unchanged. Places at the bottom are used first, so looking through the
// table costs as much as there ever were requests at the same time, and not as much as there may be.
internal sealed class RequestTable<T>
    where T : class
{
    private const int IndexBits = 20;
    private const int IndexMask = (1 << IndexBits) - 1;

    private readonly T?[] _places;
    // The free place below each free place, plus one; 0 is the bottom.
    private readonly int[] _below;
    // The top of the free places plus one in the lower half, and the count of changes in the upper half.
    private long _free;
    private long _lastNumber;
    private int _count;
    private int _used;

    /// <param name="capacity">The number of places, at most 2^20.</param>
    /// <param name="firstNumber">
    /// At most 2^42. Ids begin above it: if it is random, a node that was not asked cannot guess an id and answer in place of others.
    /// </param>
    public RequestTable(int capacity, long firstNumber = 0)
    {
        _lastNumber = firstNumber;
        _places = new T?[capacity];
        _below = new int[capacity];
        for (int i = 0; i < capacity; i++)
        {
            _below[i] = i == capacity - 1 ? 0 : i + 2;
        }

        _free = 1;
    }

    public int Capacity => _places.Length;

    public int Count => Volatile.Read(ref _count);

    /// <summary>All places that were ever used are before this one.</summary>
    public int Used => Volatile.Read(ref _used);

    /// <summary>Takes a place. False if there is none. The request is found under the id as soon as <see cref="Set"/> was called.</summary>
    public bool TryTake(out long id)
    {
        while (true)
        {
            long free = Volatile.Read(ref _free);
            int top = (int)(uint)free;
            if (top == 0)
            {
                id = 0;
                return false;
            }

            long next = Changed(free, Volatile.Read(ref _below[top - 1]));
            if (Interlocked.CompareExchange(ref _free, next, free) == free)
            {
                Interlocked.Increment(ref _count);
                id = (Interlocked.Increment(ref _lastNumber) << IndexBits) | (uint)(top - 1);
                int used = Volatile.Read(ref _used);
                while (used < top)
                {
                    int before = Interlocked.CompareExchange(ref _used, top, used);
                    if (before == used)
                    {
                        break;
                    }

                    used = before;
                }

                return true;
            }
        }
    }

    public void Set(long id, T request) => Volatile.Write(ref _places[IndexOf(id)], request);

    /// <summary>What has the place of this id, which may be another request; null if nothing has it.</summary>
    public T? Find(long id)
    {
        int index = IndexOf(id);
        return index < _places.Length ? Volatile.Read(ref _places[index]) : null;
    }

    public T? At(int index) => Volatile.Read(ref _places[index]);

    /// <summary>Returns a place. Called once for each id.</summary>
    public void Return(long id)
    {
        int index = IndexOf(id);
        Volatile.Write(ref _places[index], null);
        while (true)
        {
            long free = Volatile.Read(ref _free);
            Volatile.Write(ref _below[index], (int)(uint)free);
            if (Interlocked.CompareExchange(ref _free, Changed(free, index + 1), free) == free)
            {
                Interlocked.Decrement(ref _count);
                return;
            }
        }
    }

    private static int IndexOf(long id) => (int)(id & IndexMask);

    private static long Changed(long free, int top) => (((free >> 32) + 1) << 32) | (uint)top;
}
