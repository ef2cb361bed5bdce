using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Service.Takeover;

// A service that takes over from another one knows no member yet. If it made views at once, the topics of a publisher that comes back first
// would have no subscribers, and its messages would be lost. So from the first sign of an earlier life, no views are made until all known
// nodes are back or a grace has passed. Meanwhile, the nodes continue in their last views. The same holds when nodes come over together
// from another service, or are back together after the service was cut off from them: only nodes that one configuration admits continue
// with each other.
//
// What goes wrong: nodes can claim any origin, and a client could keep a service gathering. So the time for it is a budget, which grows
// slowly. Beyond it, nodes are admitted one by one.
internal sealed class Gathering(TimeSpan grace)
{
    private const int MostLines = 256;
    // A line's stragglers are waited for once more: the other part of a cluster that was torn.
    private const int MostTimes = 2;
    private const double Refill = 0.1;

    private readonly TimeSpan _mostBudget = grace * 3;
    private readonly Dictionary<ulong, Line> _lines = [];
    private readonly Queue<ulong> _order = new();
    private readonly List<Line> _awaited = [];
    private TimeSpan _budget = grace * 3;
    private TimeSpan _budgetAt;
    private bool _waitsForAll;

    // The nodes that were under one earlier service.
    private sealed class Line
    {
        public long Known;
        public int Expected;
        public int Returned;
        public int Times;

        public bool IsWhole => Returned >= Expected;
    }

    /// <summary>When the grace ends; null while nothing is gathered.</summary>
    public TimeSpan? Until { get; private set; }

    public bool IsOn(TimeSpan now)
    {
        if (Until is { } until && (now >= until || (!_waitsForAll && _awaited.TrueForAll(line => line.IsWhole))))
        {
            // What was not used is there again.
            _budget += until > now ? until - now : TimeSpan.Zero;
            Until = null;
            _awaited.Clear();
            _waitsForAll = false;
        }

        return Until is not null;
    }

    /// <summary>There was an earlier service, and none of its nodes is back yet. True when a gathering begins.</summary>
    public bool Begin(TimeSpan now)
    {
        _waitsForAll = true;
        return TryStart(now);
    }

    /// <summary>
    /// A node is back that had this configuration of another line, and knew of so many nodes in it, itself included. True when a
    /// gathering begins.
    /// </summary>
    public bool OnReturned(Origin origin, int knownNodes, TimeSpan now)
    {
        IsOn(now);
        var line = LineOf(origin.Service);
        if (origin.Configuration > line.Known && Until is null)
        {
            (line.Returned, line.Expected, line.Times) = (0, 0, 0);
        }

        line.Known = Math.Max(line.Known, origin.Configuration);
        line.Expected = Math.Max(line.Expected, knownNodes);
        line.Returned++;
        // From now on it is known which nodes are awaited.
        _waitsForAll = false;
        if (Until is not null)
        {
            Await(line);
            Extend(now);
            return false;
        }

        if (line.IsWhole || line.Times >= MostTimes || !TryStart(now))
        {
            return false;
        }

        Await(line);
        return true;
    }

    // While some come, more may: on a machine that is short of time, or where the service has just begun, they come one by one.
    private void Extend(TimeSpan now)
    {
        var until = now + (grace / 2);
        if (Until is { } known && until > known && until - known <= _budget)
        {
            _budget -= until - known;
            Until = until;
        }
    }

    private void Await(Line line)
    {
        if (!_awaited.Contains(line))
        {
            line.Times++;
            _awaited.Add(line);
        }
    }

    private bool TryStart(TimeSpan now)
    {
        var refilled = _budget + ((now - _budgetAt) * Refill);
        _budget = refilled < _mostBudget ? refilled : _mostBudget;
        _budgetAt = now;
        if (Until is not null || _budget < grace)
        {
            return false;
        }

        _budget -= grace;
        Until = now + grace;
        return true;
    }

    private Line LineOf(ulong service)
    {
        if (!_lines.TryGetValue(service, out var line))
        {
            line = new Line();
            _lines.Add(service, line);
            _order.Enqueue(service);
            if (_order.Count > MostLines)
            {
                _lines.Remove(_order.Dequeue());
            }
        }

        return line;
    }
}
