using QuickSilver.Membership.Views;

namespace QuickSilver.Groups.Ordering;

// In which order the messages are passed that are left of a view when it ends. All members hold the same messages then, and each has passed
// a front part of the same order. So the plan of each is the same as far as the group's order is concerned: the orders that the orderer has
// sent, and then the rest by the rank of its senders, always after what causal messages name.
//
// An order message of a member that the order has not come to waits for the message by which it does. If nothing else is left to take,
// there is none.
//
// Invariant: each message that is held is in the plan, after those that its sender sent before. So nothing is left behind.
internal sealed class ViewPlan
{
    private readonly List<(SenderProgress Sender, long Number)> _steps;
    // The one that orders what is taken next.
    private NodeKey _orderer;
    private int _done;

    public ViewPlan(IEnumerable<SenderProgress> senders, NodeKey orderer)
    {
        SenderQueue[] queues =
        [
            .. senders.Select(static one => new SenderQueue(one)).Where(static queue => queue.Left > 0)
                .OrderBy(static queue => (queue.Sender.Rank, queue.Sender.Sender)),
        ];
        _steps = new List<(SenderProgress, long)>(queues.Sum(static queue => queue.Left));
        var bySender = queues.ToDictionary(static queue => queue.Sender.Sender);
        _orderer = orderer;
        while (TakeFree(queues, bySender) || TakeUnordered(queues))
        {
        }
    }

    /// <summary>Whether a message, the next of its sender, is the next of the plan.</summary>
    public bool IsNext(NodeKey sender, long number)
    {
        while (_done < _steps.Count && _steps[_done].Sender.Passed >= _steps[_done].Number)
        {
            _done++;
        }

        return _done < _steps.Count && _steps[_done].Sender.Sender == sender && _steps[_done].Number == number;
    }

    // Takes all that waits for nothing but what was taken. False: nothing was.
    private bool TakeFree(SenderQueue[] queues, Dictionary<NodeKey, SenderQueue> bySender)
    {
        bool isAny = false;
        foreach (var queue in queues)
        {
            while (queue.TryPeek(out var message) && IsFree(queue.Sender.Sender, message))
            {
                Take(queue);
                isAny = true;
                if (message is { Frame: GroupFrame.Handover, Steps: [{ Sender: var next }] })
                {
                    _orderer = next;
                }
            }
        }

        return isAny;

        bool IsFree(NodeKey sender, in HeldMessage message) => message.Frame switch
        {
            GroupFrame.Causal => Array.TrueForAll(message.Steps, IsTaken),
            GroupFrame.Orders => message.Steps.Length == 0 || (sender == _orderer && Array.TrueForAll(message.Steps, IsTaken)),
            GroupFrame.Handover => message.Steps.Length == 0 || sender == _orderer,
            GroupFrame.Total or GroupFrame.Safe => sender == _orderer || IsNextInList(sender, message.Number),
            _ => true,
        };

        bool IsTaken(OrderStep step) =>
            !bySender.TryGetValue(step.Sender, out var named) || !named.TryPeek(out var next) || next.Number > step.Through;

        bool IsNextInList(NodeKey sender, long number)
        {
            if (!bySender.TryGetValue(_orderer, out var orderer) || !orderer.TryPeek(out var list) || list.Frame != GroupFrame.Orders)
            {
                return false;
            }

            int next = Array.FindIndex(list.Steps, step => !IsTaken(step));
            return next >= 0 && list.Steps[next].Sender == sender && number <= list.Steps[next].Through;
        }
    }

    // Nothing is free: what is left has no place in the orders, or names what has none. False: nothing is left.
    private bool TakeUnordered(SenderQueue[] queues)
    {
        var next = Array.Find(queues, IsNoOrderer)
            ?? Array.Find(queues, static queue => queue.TryPeek(out var first) && first.Frame is GroupFrame.Total or GroupFrame.Safe)
            // Messages that name each other in a circle, which no member that keeps to the protocol sends.
            ?? Array.Find(queues, static queue => queue.Left > 0);
        if (next is null)
        {
            return false;
        }

        Take(next);
        return true;

        bool IsNoOrderer(SenderQueue queue) =>
            queue.Sender.Sender != _orderer && queue.TryPeek(out var first) && first.Frame is GroupFrame.Orders or GroupFrame.Handover;
    }

    private void Take(SenderQueue queue)
    {
        queue.TryPeek(out var message);
        _steps.Add((queue.Sender, message.Number));
        queue.Remove();
    }

    private sealed class SenderQueue(SenderProgress sender)
    {
        private readonly HeldMessage[] _messages = sender.ToArray();
        private int _taken;

        public SenderProgress Sender => sender;

        public int Left => _messages.Length - _taken;

        public bool TryPeek(out HeldMessage message)
        {
            message = Left > 0 ? _messages[_taken] : default;
            return Left > 0;
        }

        public void Remove() => _taken++;
    }
}
