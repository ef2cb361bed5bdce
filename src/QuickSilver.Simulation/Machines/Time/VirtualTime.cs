namespace QuickSilver.Simulation.Machines.Time;

// The one clock and the one queue of all that will happen: a binary heap by (due, order of insertion), so events of one
// instant fire in the order in which they were asked for and a run has exactly one history. One thread at a time.
//
// Events that are asked for one after the other and are due at one instant, as the arrivals of a multicast at all its
// receivers, share one place in the heap, as a chain. The order is the same: whatever else is due then was asked for before
// or after all of them.
internal sealed class VirtualTime
{
    private const int CompactionFloor = 4096;

    private Entry[] _heap = new Entry[1024];
    private int _count;
    private int _events;
    private int _stale;
    // The end of the chain that was begun last, and when it is due; null once it is no longer in the heap.
    private VirtualEvent? _lastTail;
    private long _lastDueTicks;
    // What is left of the chain whose turn it is.
    private VirtualEvent? _current;
    private ulong _order;
    private bool _running;
    private int _threadId = System.Environment.CurrentManagedThreadId;

    public TimeSpan Now { get; private set; }

    /// <summary>More events than this without time moving on are an endless loop of zero delays, not a busy instant.</summary>
    public long MostEventsPerInstant { get; set; } = 20_000_000;

    public long EventsFired { get; private set; }

    public int QueuedEvents => _events;

    /// <summary>Whether the calling thread is the one that runs the simulation.</summary>
    public bool IsOwnThread => System.Environment.CurrentManagedThreadId == _threadId;

    /// <summary>Queues an event; one that is due in the past happens now, after what is already queued for now.</summary>
    public void At(TimeSpan due, VirtualEvent what)
    {
        CheckThread();
        long dueTicks = Math.Max(due.Ticks, Now.Ticks);
        _events++;
        if (_lastTail is not null && _lastDueTicks == dueTicks)
        {
            _lastTail.Next = what;
            _lastTail = what;
            return;
        }

        if (_count == _heap.Length)
        {
            Array.Resize(ref _heap, _count * 2);
        }

        _lastTail = what;
        _lastDueTicks = dueTicks;
        SiftUp(_count++, new Entry(dueTicks, _order++, what));
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
            throw new InvalidOperationException("Virtual time is already running. Do not run the simulation from a callback.");
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
                "The simulator runs on one thread, and this call came from another. Post from code that the simulation runs, " +
                "or between two runs from the thread that runs them. After an await that changed threads, call the cluster first.");
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
        if (++_stale > CompactionFloor && _stale > _events / 2)
        {
            Compact();
        }
    }

    internal static TimeSpan Add(TimeSpan now, TimeSpan delay) =>
        delay <= TimeSpan.Zero ? now : delay > TimeSpan.MaxValue - now ? TimeSpan.MaxValue : now + delay;

    private bool RunLoop(Func<bool> condition, TimeSpan end)
    {
        long atThisInstant = 0;
        while (true)
        {
            if (_current is null)
            {
                if (_count == 0 || _heap[0].DueTicks > end.Ticks)
                {
                    break;
                }

                if (_heap[0].DueTicks > Now.Ticks)
                {
                    if (condition())
                    {
                        return true;
                    }

                    Now = TimeSpan.FromTicks(_heap[0].DueTicks);
                    atThisInstant = 0;
                }

                TakeFirst();
            }

            if (++atThisInstant > MostEventsPerInstant)
            {
                throw new SimulationException($"Virtual time stands still at {Now}: {MostEventsPerInstant} events ran without a delay.")
                {
                    Time = Now,
                };
            }

            FireCurrent();
        }

        if (condition())
        {
            return true;
        }

        Now = end > Now ? end : Now;
        return condition();
    }

    private void TakeFirst()
    {
        _current = _heap[0].What;
        if (_heap[0].DueTicks == _lastDueTicks)
        {
            _lastTail = null;
        }

        var last = _heap[--_count];
        _heap[_count] = default;
        if (_count > 0)
        {
            SiftDown(0, last);
        }
    }

    private void FireCurrent()
    {
        var what = _current!;
        _current = what.Next;
        what.Next = null;
        _events--;
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
            if (WithoutStale(_heap[i].What) is { } chain)
            {
                _heap[kept++] = _heap[i] with { What = chain };
            }
        }

        Array.Clear(_heap, kept, _count - kept);
        _count = kept;
        _lastTail = null;
        _stale = 0;
        for (var what = _current; what is not null; what = what.Next)
        {
            _stale += what.IsStale ? 1 : 0;
        }

        for (int i = (_count / 2) - 1; i >= 0; i--)
        {
            SiftDown(i, _heap[i]);
        }
    }

    private VirtualEvent? WithoutStale(VirtualEvent chain)
    {
        VirtualEvent? first = null;
        VirtualEvent? last = null;
        for (var what = chain; what is not null;)
        {
            var next = what.Next;
            what.Next = null;
            if (what.IsStale)
            {
                _events--;
                what.Discard();
            }
            else if (last is null)
            {
                first = last = what;
            }
            else
            {
                last = last.Next = what;
            }

            what = next;
        }

        return first;
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
