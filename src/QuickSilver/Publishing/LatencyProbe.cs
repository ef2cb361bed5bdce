using QuickSilver.Core.Environment;
using QuickSilver.Diagnostics;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Publishing;

// Records the time until a node's messages are stable in the node's meter.
internal sealed class PublishLatency(INodeEnvironment environment, NodeMeter? meter)
{
    /// <summary>Whether a listener is attached.</summary>
    public bool IsWatched => meter is not null && NodeInstruments.IsLatencyWatched;

    public TimeSpan Now => environment.Now;

    public void Record(TimeSpan takenAt)
    {
        if (IsWatched)
        {
            meter!.RecordStable(environment.Now - takenAt);
        }
    }
}

// Measures the latency of one message of a topic at a time, because a claim for every message would cost more than what it measures. A
// topic has no probe until a listener is attached. Core thread only.
internal sealed class LatencyProbe(PublishLatency latency) : IStabilityObserver
{
    private TimeSpan _takenAt;
    private bool _isUnderWay;

    /// <summary>Returns the observer for the next message, or null if a measurement is in progress.</summary>
    public IStabilityObserver? TryBegin()
    {
        if (_isUnderWay)
        {
            return null;
        }

        _isUnderWay = true;
        _takenAt = latency.Now;
        return this;
    }

    /// <summary>Called when the message was not accepted.</summary>
    public void GiveUp() => _isUnderWay = false;

    public void OnStable(long sequence)
    {
        _isUnderWay = false;
        latency.Record(_takenAt);
    }

    public void OnAbandoned(long sequence, string reason) => _isUnderWay = false;
}
