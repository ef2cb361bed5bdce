namespace QuickSilver.Core.Alarms;

// One timer, owned by a protocol object for its whole life and set again and again: the links of the splay tree lie
// inside, so setting an alarm allocates nothing. Used on the core thread only.
internal sealed class Alarm(Action onDue)
{
    internal Alarm? Left;
    internal Alarm? Right;
    internal Alarm? Parent;
    internal TimeSpan Due;
    // Breaks ties between alarms due at the same instant: first set, first fired.
    internal ulong Order;
    internal object? Queue;

    public bool IsPending => Queue is not null;

    public void Fire() => onDue();

    // Names the handler when it holds the core thread or throws.
    public override string ToString() => $"alarm {onDue.Method.DeclaringType?.Name}.{onDue.Method.Name}";
}
