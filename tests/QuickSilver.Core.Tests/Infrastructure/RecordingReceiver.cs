using QuickSilver.Core.Transport;

namespace QuickSilver.Core.Tests.Infrastructure;

// Remembers the bytes of each run; a first byte of ControlMark makes a run control.
internal sealed class RecordingReceiver : IDatagramReceiver
{
    public const byte ControlMark = 0xC0;
    public const byte RepairMark = 0xC1;
    private readonly List<byte[]> _runs = [];
    private int _batches;

    public Action<ReceivedRun>? OnEach { get; init; }

    public int Batches => Volatile.Read(ref _batches);

    public byte[][] Runs
    {
        get
        {
            lock (_runs)
            {
                return [.. _runs];
            }
        }
    }

    public long Bytes => Runs.Sum(run => (long)run.Length);

    public bool IsControl(ReadOnlySpan<byte> firstBytes) => firstBytes.Length > 0 && firstBytes[0] == ControlMark;

    public bool IsRepair(ReadOnlySpan<byte> firstBytes) => firstBytes.Length > 0 && firstBytes[0] == RepairMark;

    public void OnRun(in ReceivedRun run)
    {
        lock (_runs)
        {
            _runs.Add(run.Span.ToArray());
        }

        OnEach?.Invoke(run);
    }

    public void OnBatchEnd() => Interlocked.Increment(ref _batches);
}
