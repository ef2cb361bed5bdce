namespace QuickSilver.Tool.Perf;

// The steady part of a run: what it allocates per message, without what starting up cost. A run too short to have one is
// judged as a whole.
internal sealed class Steady(ProcessUsage start)
{
    private ProcessUsage _from = start;
    private long _messagesBefore;

    public bool HasBegun { get; private set; }

    public void Begin(long messages)
    {
        HasBegun = true;
        _messagesBefore = messages;
        _from = ProcessUsage.Now();
    }

    public double AllocatedBytesPerMessage(ProcessUsage end, long messages) => messages > _messagesBefore
        ? Math.Round((double)(end.AllocatedBytes - _from.AllocatedBytes) / (messages - _messagesBefore), 3)
        : 0;
}
