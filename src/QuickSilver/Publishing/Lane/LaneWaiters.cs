using QuickSilver.Core.Environment;
using QuickSilver.Publishing.Requests;

namespace QuickSilver.Publishing.Lane;

// Topics whose publishers wait until the lane has room. A gate is added here before it checks the lane once more, and the core thread
// checks this list after it has released room, with a fence on both sides: no wake is lost. The lines are served when the lane has much
// room, and from time to time with any free room (WakeTimes).
internal sealed class LaneWaiters
{
    private readonly Lock _lock = new();
    private List<PublishGate> _gates = [];
    private List<PublishGate> _spare = [];
    private bool _hasAny;
    // Not readonly: it is a struct that has state of its own.
    private WakeTimes _wakes;

    /// <summary>Adds a gate. From any thread. A full fence.</summary>
    public void Add(PublishGate gate)
    {
        lock (_lock)
        {
            if (!gate.IsInLaneWaiters)
            {
                gate.IsInLaneWaiters = true;
                _gates.Add(gate);
            }

            Volatile.Write(ref _hasAny, true);
        }

        Interlocked.MemoryBarrier();
    }

    /// <summary>Core thread, after room was released: each gate serves its line, and is added again if some of the line is left.</summary>
    public void Serve(PublishLane lane, INodeEnvironment environment)
    {
        if (!Volatile.Read(ref _hasAny))
        {
            return;
        }

        bool hasMuchRoom = lane.HasMuchRoom;
        bool isDue = _wakes.IsDue(environment.Now, hasMuchRoom);
        if (!hasMuchRoom && !isDue)
        {
            return;
        }

        List<PublishGate> gates;
        lock (_lock)
        {
            gates = _gates;
            _gates = _spare;
            _spare = gates;
            Volatile.Write(ref _hasAny, false);
            foreach (var gate in gates)
            {
                gate.IsInLaneWaiters = false;
            }
        }

        // The first may use up the room, and those whose lines are not empty are added again in this order. So each comes first in turn.
        for (int i = 1; i <= gates.Count; i++)
        {
            gates[i % gates.Count].Serve(isDue);
        }

        gates.Clear();
    }

    /// <summary>Core thread: whether a topic other than this one waits only for the lane.</summary>
    public bool IsAnyReady(PublishGate but)
    {
        if (!Volatile.Read(ref _hasAny))
        {
            return false;
        }

        lock (_lock)
        {
            foreach (var gate in _gates)
            {
                if (!ReferenceEquals(gate, but) && gate.Publisher.AwaitRoom())
                {
                    return true;
                }
            }
        }

        return false;
    }
}

// When the publishers that wait for room are woken. Usually that is when much of it is free, so that a publisher that has waited once can
// then publish thousands of messages. A topic that is held to the rate of a slow reader may need many seconds for that, so its publishers
// are also woken with any room that is free, at most once in each interval: they continue in small steps. Core thread only.
internal struct WakeTimes
{
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(50);

    private TimeSpan _wokenAt;

    /// <summary>Called when room was released for publishers that wait: whether they are woken with whatever room there is.</summary>
    /// <param name="now">The time of the node's environment.</param>
    /// <param name="hasMuchRoom">Whether they are woken in any case.</param>
    public bool IsDue(TimeSpan now, bool hasMuchRoom)
    {
        bool isDue = now - _wokenAt >= Interval;
        if (isDue || hasMuchRoom)
        {
            _wokenAt = now;
        }

        return isDue;
    }
}
