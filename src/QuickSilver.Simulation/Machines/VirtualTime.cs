namespace QuickSilver.Simulation.Machines;

// The one clock and the one queue of all that will happen: a binary heap by (due, order of insertion), so events of one
// instant fire in the order in which they were asked for and a run has exactly one history. One thread at a time.
internal sealed class VirtualTime
{
    private const int CompactionFloor = 4096;

    private Entry[] _heap = new Entry[1024];
    private int _count;
    private int _stale;
    private ulong _order;
    private bool _running;
    private int _threadId = System.Environment.CurrentManagedThreadId;

    public TimeSpan Now { get; private set; }

    /// <summary>More events than this without time moving on are an endless loop of zero delays, not a busy instant.</summary>
    public long MostEventsPerInstant { get; set; } = 20_000_000;

    public long EventsFired { get; private set; }

    public int QueuedEvents => _count;

    /// <summary>Whether the calling thread is the one that runs the simulation.</summary>
    public bool IsOwnThread => System.Environment.CurrentManagedThreadId == _threadId;

    /// <summary>Queues an event; one that is due in the past happens now, after what is already queued for now.</summary>
    public void At(TimeSpan due, VirtualEvent what)
    {
        CheckThread();
        if (_count == _heap.Length)
        {
            Array.Resize(ref _heap, _count * 2);
        }

        var entry = new Entry(Math.Max(due.Ticks, Now.Ticks), _order++, what);
        SiftUp(_count++, entry);
    }

    public void After(TimeSpan delay, VirtualEvent what) => At(Add(Now, delay), what);

    /// <summary>Fires all that is due until <paramref name="end"/>, and moves the clock there.</summary>
    public void RunTo(TimeSpan end) => RunUntil(static () => false, end);

    /// <summary>
    /// Runs until the condition holds (looked at before each step of the clock), but no further than <paramref name="end"/>.
    /// Returns whether it held; the clock stays at the instant at which it did.
    /// </summary>
    public bool RunUntil(Func<bool> condition, TimeSpan end)
    {
        if (_running)
        {
            throw new InvalidOperationException("Virtual time is already running: a callback must not run the simulation.");
        }

        _threadId = System.Environment.CurrentManagedThreadId;
        _running = true;
        try
        {
            return RunLoop(condition, end);
        }
        finally
        {
            _running = false;
        }
    }

    /// <summary>Throws when called from another thread than the one that runs the simulation.</summary>
    public void CheckThread()
    {
        if (!IsOwnThread)
        {
            throw new InvalidOperationException(
                "The simulator runs on one thread: this call came from another. Post from code that the simulation runs, " +
                "or between two runs from the thread that runs them (after an await that changed threads, the cluster is called first).");
        }
    }

    /// <summary>Makes the calling thread the simulation's own, between two runs.</summary>
    public void AdoptThread()
    {
        if (_running)
        {
            CheckThread();
        }

        _threadId = System.Environment.CurrentManagedThreadId;
    }

    // Cancelled alarms stay in the heap until due; when they are the greater part it is rebuilt, so that alarms set again
    // and again cost no memory.
    internal void NoteStale()
    {
        if (++_stale > CompactionFloor && _stale > _count / 2)
        {
            Compact();
        }
    }

    internal static TimeSpan Add(TimeSpan now, TimeSpan delay) =>
        delay <= TimeSpan.Zero ? now : delay > TimeSpan.MaxValue - now ? TimeSpan.MaxValue : now + delay;

    private bool RunLoop(Func<bool> condition, TimeSpan end)
    {
        long atThisInstant = 0;
        while (_count > 0 && _heap[0].DueTicks <= end.Ticks)
        {
            if (_heap[0].DueTicks > Now.Ticks)
            {
                if (condition())
                {
                    return true;
                }

                Now = TimeSpan.FromTicks(_heap[0].DueTicks);
                atThisInstant = 0;
            }
            else if (++atThisInstant > MostEventsPerInstant)
            {
                throw new SimulationException($"Time stands still at {Now}: {MostEventsPerInstant} events without a delay.");
            }

            FireFirst();
        }

        if (condition())
        {
            return true;
        }

        Now = end > Now ? end : Now;
        return condition();
    }

    private void FireFirst()
    {
        var what = _heap[0].What;
        var last = _heap[--_count];
        _heap[_count] = default;
        if (_count > 0)
        {
            SiftDown(0, last);
        }

        if (what.IsStale)
        {
            _stale--;
            what.Discard();
            return;
        }

        EventsFired++;
        what.Fire();
    }

    private void Compact()
    {
        int kept = 0;
        for (int i = 0; i < _count; i++)
        {
            if (_heap[i].What.IsStale)
            {
                _heap[i].What.Discard();
            }
            else
            {
                _heap[kept++] = _heap[i];
            }
        }

        Array.Clear(_heap, kept, _count - kept);
        _count = kept;
        _stale = 0;
        for (int i = (_count / 2) - 1; i >= 0; i--)
        {
            SiftDown(i, _heap[i]);
        }
    }

    private void SiftUp(int index, in Entry entry)
    {
        while (index > 0)
        {
            int parent = (index - 1) / 2;
            if (!entry.IsBefore(_heap[parent]))
            {
                break;
            }

            _heap[index] = _heap[parent];
            index = parent;
        }

        _heap[index] = entry;
    }

    private void SiftDown(int index, in Entry entry)
    {
        var moved = entry;
        while (true)
        {
            int child = (2 * index) + 1;
            if (child >= _count)
            {
                break;
            }

            if (child + 1 < _count && _heap[child + 1].IsBefore(_heap[child]))
            {
                child++;
            }

            if (!_heap[child].IsBefore(moved))
            {
                break;
            }

            _heap[index] = _heap[child];
            index = child;
        }

        _heap[index] = moved;
    }

    private readonly record struct Entry(long DueTicks, ulong Order, VirtualEvent What)
    {
        public bool IsBefore(in Entry other) => DueTicks < other.DueTicks || (DueTicks == other.DueTicks && Order < other.Order);
    }
}
