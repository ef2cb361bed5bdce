using System.Diagnostics.Metrics;
using QuickSilver.Core.Environment;
using QuickSilver.Multicast;

namespace QuickSilver.Publishing;

// Measures how long messages take until all hold them, by accompanying one of a topic's messages at a time: a claim on
// every message would cost more than what it measures. Costs nothing while nobody listens. Core thread only.
internal sealed class LatencyProbe(INodeEnvironment environment, Histogram<double> histogram) : IStabilityObserver
{
    private TimeSpan _takenAt;
    private bool _isUnderWay;

    /// <summary>An observer to send the next message with, or null.</summary>
    public IStabilityObserver? TryBegin()
    {
        // The histogram first, which all topics share and which is at hand.
        if (!histogram.Enabled || _isUnderWay)
        {
            return null;
        }

        _isUnderWay = true;
        _takenAt = environment.Now;
        return this;
    }

    /// <summary>The message was not taken.</summary>
    public void GiveUp() => _isUnderWay = false;

    public void Record(TimeSpan takenAt)
    {
        if (histogram.Enabled)
        {
            histogram.Record((environment.Now - takenAt).TotalSeconds);
        }
    }

    public void OnStable(long sequence)
    {
        _isUnderWay = false;
        Record(_takenAt);
    }

    public void OnAbandoned(long sequence, string reason) => _isUnderWay = false;
}
