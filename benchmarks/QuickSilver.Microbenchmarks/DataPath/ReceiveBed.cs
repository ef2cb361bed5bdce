using QuickSilver.Core.Transport;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Receiving;

namespace QuickSilver.Microbenchmarks.DataPath;

// One subscriber of one topic and the packets that it receives. A pass hands over all runs; Rewind makes them new to it.
internal sealed class ReceiveBed<T>
{
    private const string Name = "bench";

    private readonly BareParts _parts = new();
    private readonly IDatagramReceiver _reader;
    private InboundStream? _stream;
    private bool _isPassed;

    public ReceiveBed(int runs, int messageBytes, MessageHandler<T>? handler)
    {
        Topic = _parts.Open<T>(Name);
        if (handler is not null)
        {
            Topic.SubscribeInline(handler);
        }

        _reader = _parts.Core.Receiver!;
        Packets = new PacketRuns(_parts, TopicId.Of(Name), runs, messageBytes);
    }

    public ITopic<T> Topic { get; }

    /// <summary>Called when a run was handed over.</summary>
    public Action? AfterRun { get; set; }

    public PacketRuns Packets { get; }

    public MulticastCounters Counters => _parts.Node.Counters;

    /// <summary>Does nothing to packets that were not received yet.</summary>
    public void Rewind()
    {
        if (_isPassed)
        {
            _isPassed = false;
            Packets.Renumber();
        }
    }

    /// <summary>Every run as the core thread hands it over; between runs the ring says what is stable, so that the cache goes.</summary>
    public void Pass()
    {
        foreach (var run in Packets.Runs)
        {
            _reader.OnRun(run);
            _stream ??= _parts.Node.Regions.First().Streams[0];
            _stream.SetStable(_stream.Contiguous, _stream.Contiguous);
            AfterRun?.Invoke();
        }

        _reader.OnBatchEnd();
        _isPassed = true;
    }
}
