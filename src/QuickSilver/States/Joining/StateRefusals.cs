using QuickSilver.Core.Alarms;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Diagnostics;
using QuickSilver.Endpoints;

namespace QuickSilver.States.Joining;

// The changes that a state of this node refused, because their numbers cannot have been counted. The log and the status name their senders.
// Core thread only.
internal sealed class StateRefusals
{
    /// <summary>The status names a refused change for as long as this.</summary>
    public static readonly TimeSpan Named = TimeSpan.FromMinutes(1);

    private readonly IEndpointNode _core;
    private readonly string _name;
    private readonly Alarm _end;

    public StateRefusals(IEndpointNode core, string name)
    {
        _core = core;
        _name = name;
        _end = new Alarm(() => _core.Troubles.End(this));
    }

    /// <summary>The number of refused changes so far.</summary>
    public long Count { get; private set; }

    /// <param name="sender">The node that sent the change, or gave it.</param>
    /// <param name="counter">Its number.</param>
    /// <param name="limit">The highest number that can have been counted.</param>
    public void Add(NodeId sender, long counter, long limit)
    {
        Count++;
        var named = _core.Named(sender);
        if (RepeatedEvent.IsLogged(Count))
        {
            ApiLog.StateChangeRefused(_core.Log, _name, named, counter, limit, Count);
        }

        string what = $"State \"{_name}\" refused a change of node {named}: it has the number {counter}, and at most {limit} can have been "
            + $"counted. The state has refused {Counted.Of(Count, "change")} so far.";
        _core.Troubles.Begin(this, new Trouble(TroubleKind.StateChangeRefused, what, _core.Environment.UtcNow));
        _core.Environment.Schedule(_end, Named);
    }

    public void Close()
    {
        _core.Environment.Cancel(_end);
        _core.Troubles.End(this);
    }
}
