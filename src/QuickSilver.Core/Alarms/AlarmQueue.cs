using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;

namespace QuickSilver.Core.Alarms;

// The alarms of one node in the order in which they fall due: a splay tree over the alarms themselves.
//
// Why a splay tree: what protocols set is skewed. Most alarms are moved or taken back long before they are due, and the
// same few are touched over and over; splaying brings these to the root, where the next move of them is cheap. A heap
// would need an index per alarm to take one back, and an array that grows. Here the links lie in the alarms: no call
// allocates.
//
// Every operation costs O(log n) amortised. A single one may cost O(n), as the tree may be a list (n alarms set in order
// make one), so nothing here recurses: splaying walks parent links from the bottom up.
//
// The earliest alarm is remembered, so asking how long to sleep costs nothing. Used on the core thread only.
[DebuggerDisplay("{Count} pending")]
internal sealed class AlarmQueue
{
    private Alarm? _root;
    private Alarm? _earliest;
    private ulong _nextOrder;

    /// <summary>How many alarms are pending.</summary>
    public int Count { get; private set; }

    /// <summary>Sets <paramref name="alarm"/> to the instant <paramref name="due"/>; one that is pending here is moved,
    /// and then stands behind all others of that instant.</summary>
    public void Schedule(Alarm alarm, TimeSpan due)
    {
        ThrowIfForeign(alarm);
        if (alarm.Queue is not null)
        {
            Remove(alarm);
        }

        alarm.Due = due;
        alarm.Order = _nextOrder++;
        alarm.Queue = this;
        Insert(alarm);
    }

    /// <summary>Takes a pending alarm back; does nothing when it is not pending.</summary>
    public void Cancel(Alarm alarm)
    {
        ThrowIfForeign(alarm);
        if (alarm.Queue is not null)
        {
            Remove(alarm);
        }
    }

    /// <summary>When the earliest alarm is due; false when none is pending.</summary>
    public bool TryPeekDue(out TimeSpan due)
    {
        due = _earliest?.Due ?? default;
        return _earliest is not null;
    }

    /// <summary>All alarms set from now on stand behind this mark.</summary>
    public ulong Mark => _nextOrder;

    /// <summary>As <see cref="TakeDue(TimeSpan)"/>, of the alarms that were set before the mark.</summary>
    public Alarm? TakeDue(TimeSpan now, ulong mark) => _earliest?.Order < mark ? TakeDue(now) : null;

    /// <summary>Removes and returns the earliest alarm if it is due at <paramref name="now"/>, else null. An alarm that
    /// sets itself again for an instant that has come is returned again: the caller that drains this bounds its time.</summary>
    public Alarm? TakeDue(TimeSpan now)
    {
        var alarm = _earliest;
        if (alarm is null || alarm.Due > now)
        {
            return null;
        }

        Remove(alarm);
        return alarm;
    }

    private void Insert(Alarm alarm)
    {
        Alarm? parent = null;
        bool isLeft = false;
        for (var at = _root; at is not null; at = isLeft ? at.Left : at.Right)
        {
            parent = at;
            isLeft = IsBefore(alarm, at);
        }

        alarm.Parent = parent;
        if (parent is not null)
        {
            if (isLeft)
            {
                parent.Left = alarm;
            }
            else
            {
                parent.Right = alarm;
            }
        }

        // The descent is paid for by splaying what it ended at; without that a list would stay a list.
        Splay(alarm);
        _root = alarm;
        Count++;
        if (_earliest is null || IsBefore(alarm, _earliest))
        {
            _earliest = alarm;
        }
    }

    private void Remove(Alarm alarm)
    {
        Splay(alarm);
        _root = Join(Detach(alarm.Left), Detach(alarm.Right));
        if (ReferenceEquals(alarm, _earliest))
        {
            _earliest = SplayLeftmost();
        }

        alarm.Left = null;
        alarm.Right = null;
        alarm.Queue = null;
        Count--;
    }

    private static Alarm? Detach(Alarm? subtree)
    {
        subtree?.Parent = null;
        return subtree;
    }

    // Both are roots, and all of left is before all of right.
    private static Alarm? Join(Alarm? left, Alarm? right)
    {
        if (left is null)
        {
            return right;
        }

        var last = left;
        while (last.Right is not null)
        {
            last = last.Right;
        }

        Splay(last);
        last.Right = right;
        right?.Parent = last;
        return last;
    }

    // At the root the next removal finds the earliest alarm without a walk, and the walk that found it is paid for.
    private Alarm? SplayLeftmost()
    {
        var first = _root;
        while (first?.Left is not null)
        {
            first = first.Left;
        }

        if (first is not null)
        {
            Splay(first);
            _root = first;
        }

        return first;
    }

    // Brings the node to the root of the tree it is in. The caller stores the new root.
    private static void Splay(Alarm node)
    {
        while (node.Parent is { } parent)
        {
            var grandparent = parent.Parent;
            if (grandparent is null)
            {
                RotateUp(node, parent);
                return;
            }

            bool isStraight = ReferenceEquals(grandparent.Left, parent) == ReferenceEquals(parent.Left, node);
            if (isStraight)
            {
                // Parent first: this is what halves the depth of a list. The other order would only move it.
                RotateUp(parent, grandparent);
                RotateUp(node, parent);
            }
            else
            {
                RotateUp(node, parent);
                RotateUp(node, grandparent);
            }
        }
    }

    private static void RotateUp(Alarm node, Alarm parent)
    {
        var above = parent.Parent;
        Alarm? moved;
        if (ReferenceEquals(parent.Left, node))
        {
            moved = node.Right;
            parent.Left = moved;
            node.Right = parent;
        }
        else
        {
            moved = node.Left;
            parent.Right = moved;
            node.Left = parent;
        }

        moved?.Parent = parent;
        parent.Parent = node;
        node.Parent = above;
        if (above is null)
        {
            return;
        }

        if (ReferenceEquals(above.Left, parent))
        {
            above.Left = node;
        }
        else
        {
            above.Right = node;
        }
    }

    private static bool IsBefore(Alarm one, Alarm other) =>
        one.Due < other.Due || (one.Due == other.Due && one.Order < other.Order);

    private void ThrowIfForeign(Alarm alarm)
    {
        if (alarm.Queue is not null && !ReferenceEquals(alarm.Queue, this))
        {
            ThrowForeign();
        }
    }

    [DoesNotReturn]
    private static void ThrowForeign() =>
        throw new InvalidOperationException("The alarm is pending in another queue. Use an alarm with one node only.");
}
