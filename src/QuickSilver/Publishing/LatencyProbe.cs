using System.Diagnostics.Metrics;
using QuickSilver.Core.Environment;
using QuickSilver.Multicast;

namespace QuickSilver.Publishing;

// How long a node's messages take until all hold them, as its meter is told.
internal sealed class PublishLatency(INodeEnvironment environment, Histogram<double>? histogram)
{
    /// <summary>Whether anybody listens.</summary>
    public bool IsWatched => histogram is { Enabled: true };

    public TimeSpan Now => environment.Now;

    public void Record(TimeSpan takenAt)
    {
        if (histogram is { Enabled: true })
        {
            histogram.Record((environment.Now - takenAt).TotalSeconds);
        }
    }
}

// Measures it by accompanying one of a topic's messages at a time: a claim on every message would cost more than what it
// measures. A topic has none while nobody listens. Core thread only.
internal sealed class LatencyProbe(PublishLatency latency) : IStabilityObserver
{
    private TimeSpan _takenAt;
    private bool _isUnderWay;

    /// <summary>An observer to send the next message with, or null.</summary>
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

    /// <summary>The message was not taken.</summary>
    public void GiveUp() => _isUnderWay = false;

    public void OnStable(long sequence)
    {
        _isUnderWay = false;
        latency.Record(_takenAt);
    }

    public void OnAbandoned(long sequence, string reason) => _isUnderWay = false;
}
