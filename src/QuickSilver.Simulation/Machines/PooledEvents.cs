using QuickSilver.Core.Alarms;
using QuickSilver.Core.Requests;

namespace QuickSilver.Simulation.Machines;

// The events that come by the million: used again, by whichever node of the cluster is the next to need one.

// An alarm's place in the queue of events. Setting the alarm anew leaves the old place behind, empty.
internal sealed class AlarmTicket(SimulatedEnvironment life) : NodeEvent(life)
{
    private Alarm? _alarm;
    private bool _queued;

    internal override bool IsStale => _alarm is null;

    internal override TraceKind Kind => TraceKind.Alarm;

    internal void Attach(SimulatedEnvironment life, Alarm alarm)
    {
        Life = life;
        _alarm = alarm;
        _queued = true;
        alarm.Queue = this;
    }

    internal void Detach()
    {
        _alarm!.Queue = null;
        _alarm = null;
        if (_queued)
        {
            Life.Cluster.Time.NoteStale();
        }
    }

    internal override void Fire()
    {
        if (_alarm is not null && Life.IsAlive && _alarm.Due - Life.Now is var left && left > TimeSpan.Zero)
        {
            // The node's clock was made slower meanwhile: there it is not due yet.
            var time = Life.Cluster.Time;
            time.At(VirtualTime.Add(time.Now, Life.Node.Clock.TrueLength(left)), this);
            return;
        }

        _queued = false;
        base.Fire();
    }

    internal override void Execute()
    {
        var alarm = _alarm;
        var life = Life;
        Discard();
        if (alarm is not null)
        {
            life.Trace(TraceKind.Alarm, 0);
            alarm.Fire();
        }
    }

    internal override void Discard()
    {
        if (_alarm is not null)
        {
            _alarm.Queue = null;
            _alarm = null;
        }

        _queued = false;
        Life.Cluster.SpareTickets.Push(this);
        // Until the next Attach nobody asks, and a life that is over is not kept.
        Life = null!;
    }
}

internal sealed class RequestEvent(SimulatedEnvironment life) : NodeEvent(life)
{
    private Request? _request;

    internal override TraceKind Kind => TraceKind.Request;

    // A request that is its own successor is one that is posted: nothing else in virtual time needs the link.
    internal void Attach(SimulatedEnvironment life, Request request)
    {
        Life = life;
        _request = request;
        request.Next = request;
    }

    internal override void Execute()
    {
        var request = _request!;
        var life = Life;
        Discard();
        life.Trace(TraceKind.Request, 0);
        request.Execute();
    }

    internal override void Discard()
    {
        _request!.Next = null;
        _request = null;
        Life.Cluster.SpareRequests.Push(this);
        Life = null!;
    }
}
