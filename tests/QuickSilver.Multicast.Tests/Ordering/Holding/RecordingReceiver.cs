using QuickSilver.Multicast.Channels;

namespace QuickSilver.Multicast.Tests.Ordering.Holding;

// A receiver that records what it is asked for.
internal sealed class RecordingReceiver : ITopicReceiver
{
    public int Resumes { get; private set; }

    public bool IsClosed { get; private set; }

    public IReadOnlyList<UntakenRange> Behind { get; set; } = [];

    public long TakenCount { get; set; }

    public long Taken => TakenCount;

    public void Resume() => Resumes++;

    public IReadOnlyList<UntakenRange> Untaken() => Behind;

    public void Close() => IsClosed = true;
}
