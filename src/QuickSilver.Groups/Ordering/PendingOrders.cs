using QuickSilver.Membership.Views;

namespace QuickSilver.Groups.Ordering;

// What the orderer of a view has ordered and not sent yet. Messages of one sender that follow each other are one step, so the steps are at
// most as many as the messages that wait for them.
internal sealed class PendingOrders
{
    private readonly Queue<OrderStep> _steps = new();
    // The newest one, which may still grow. Null: there are none.
    private OrderStep? _last;

    public int Count => _steps.Count + (_last is null ? 0 : 1);

    /// <summary>The sender of all messages that are to be ordered; null: there are several, or none.</summary>
    public NodeKey? OnlySender => _steps.Count == 0 ? _last?.Sender : null;

    public void Add(NodeKey sender, long number)
    {
        if (_last is { } last && last.Sender != sender)
        {
            _steps.Enqueue(last);
        }

        _last = new OrderStep(sender, number);
    }

    /// <summary>Writes an order message with the oldest steps, as many as fit, and gives how many they are and the bytes.</summary>
    public (int Steps, int Bytes) Write(OrderedView view, Span<byte> destination)
    {
        int steps = 0;
        int bytes = StepsBody.HeaderBytes;
        bool isRoom = true;
        foreach (var step in _steps)
        {
            isRoom = TryWrite(step, destination);
            if (!isRoom)
            {
                break;
            }
        }

        if (isRoom && _last is { } last)
        {
            TryWrite(last, destination);
        }

        StepsBody.WriteHeader(destination, GroupFrame.Orders, view.Configuration, steps);
        return (steps, bytes);

        bool TryWrite(in OrderStep step, Span<byte> into)
        {
            int written = StepsBody.Write(into[bytes..], view.RankOf(step.Sender), step);
            bytes += written;
            steps += written > 0 ? 1 : 0;
            return written > 0;
        }
    }

    /// <summary>The oldest steps were sent.</summary>
    public void Remove(int steps)
    {
        for (; steps > 0; steps--)
        {
            if (!_steps.TryDequeue(out _))
            {
                _last = null;
            }
        }
    }

    public void Clear()
    {
        _steps.Clear();
        _last = null;
    }
}
