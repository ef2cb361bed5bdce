using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;

namespace QuickSilver.Core.Flow;

// A limit on what is under way: taken when sent, given back when acknowledged or given up. In bytes it bounds memory; in
// items it bounds concurrency. The limit may sink below what is outstanding: the window then stays closed until enough
// has come back.
[DebuggerDisplay("{Outstanding} of {Limit}")]
internal sealed class Window : IAdmission
{
    private readonly FlowUnit _unit;
    private long _limit;

    public Window(long limit, FlowUnit unit)
    {
        Limit = limit;
        _unit = unit;
    }

    public long Limit
    {
        get => _limit;
        set
        {
            ArgumentOutOfRangeException.ThrowIfLessThan(value, 1);
            _limit = value;
        }
    }

    public long Outstanding { get; private set; }

    public bool IsOpen => Outstanding < Limit;

    /// <summary>Takes exactly this much, or nothing. What is larger than the whole window passes when nothing is out:
    /// else it would wait for ever.</summary>
    public bool TryTake(long amount)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(amount);
        if (amount > Limit - Outstanding && Outstanding > 0)
        {
            return false;
        }

        Outstanding += amount;
        return true;
    }

    /// <summary>Acknowledged or given up. Giving back what was not taken throws: the window would grow unseen.</summary>
    public void Return(long amount)
    {
        if (amount < 0 || amount > Outstanding)
        {
            ThrowNotTaken(amount);
        }

        Outstanding -= amount;
    }

    public TimeSpan OpensAt(TimeSpan now) => IsOpen ? now : TimeSpan.MaxValue;

    public void Charge(TimeSpan now, int items, int bytes) => Outstanding += _unit == FlowUnit.Bytes ? bytes : items;

    [DoesNotReturn]
    private void ThrowNotTaken(long amount) =>
        throw new InvalidOperationException($"Cannot release {amount} of the window: only {Outstanding} are outstanding.");
}
