using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Multicast.Receiving;

namespace QuickSilver.Multicast.Ordering;

// Streams that have lost packets, or whose sender has departed. A gap is certain when none of the sender's streams still waits for a
// packet. It is then reported, in order with the sender's messages.
internal sealed class UncertainLosses
{
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(100);

    private readonly INodeEnvironment _environment;
    private readonly Predicate<ConsumedStream> _mayMoreCome;
    private readonly Action<ConsumedStream> _report;
    private readonly List<ConsumedStream> _streams = [];
    private readonly Alarm _check;

    public UncertainLosses(INodeEnvironment environment, Predicate<ConsumedStream> mayMoreCome, Action<ConsumedStream> report)
    {
        _environment = environment;
        _mayMoreCome = mayMoreCome;
        _report = report;
        _check = new Alarm(Check);
    }

    public void Add(ConsumedStream stream)
    {
        _streams.Add(stream);
        _environment.Schedule(_check, TimeSpan.Zero);
    }

    public void Close() => _environment.Cancel(_check);

    private void Check()
    {
        for (int i = 0; i < _streams.Count; i++)
        {
            var stream = _streams[i];
            if (!_mayMoreCome(stream))
            {
                _streams.RemoveAt(i--);
                try
                {
                    _report(stream);
                }
                catch (OutOfMemoryException)
                {
                    // Its place is free: the list does not grow. The rest is reported at the next look.
                    _streams.Add(stream);
                    break;
                }
            }
        }

        if (_streams.Count > 0)
        {
            _environment.Schedule(_check, Interval);
        }
    }
}

// Streams that can continue to deliver. They are notified after the call in which that was found.
internal sealed class HeldUpStreams
{
    private readonly INodeEnvironment _environment;
    private readonly List<ConsumedStream> _streams = [];
    private readonly Alarm _readOn;

    public HeldUpStreams(INodeEnvironment environment)
    {
        _environment = environment;
        _readOn = new Alarm(ReadOn);
    }

    public void Add(ConsumedStream stream)
    {
        _streams.Add(stream);
        _environment.Schedule(_readOn, TimeSpan.Zero);
    }

    public void Close() => _environment.Cancel(_readOn);

    private void ReadOn()
    {
        // Iterates by index, because a stream that continues may add another.
        for (int i = 0; i < _streams.Count; i++)
        {
            _streams[i].ReadOn();
        }

        _streams.Clear();
    }
}
