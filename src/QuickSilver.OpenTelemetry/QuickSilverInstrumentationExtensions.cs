using OpenTelemetry.Metrics;
using OpenTelemetry.Trace;
using QuickSilver.Diagnostics;

namespace QuickSilver.OpenTelemetry;

/// <summary>Adds the metrics and traces of QuickSilver to OpenTelemetry.</summary>
public static class QuickSilverInstrumentationExtensions
{
    /// <summary>
    /// Collects the metrics of all nodes of the process. Each series has the tags <c>quicksilver.cluster</c>,
    /// <c>quicksilver.node.name</c> and <c>quicksilver.node.id</c>. Histograms have their own buckets, so they need no view. A provider may
    /// be built before nodes start, and outlive them.
    /// </summary>
    /// <remarks>
    /// Caution: if the process has several nodes, add no view that drops <c>quicksilver.node.id</c>. Of an observable instrument,
    /// OpenTelemetry then keeps the value of one node and does not add them.
    /// </remarks>
    /// <param name="builder">The builder of the meter provider.</param>
    /// <returns>The same builder.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="builder"/> is null.</exception>
    public static MeterProviderBuilder AddQuickSilverInstrumentation(this MeterProviderBuilder builder)
    {
        ArgumentNullException.ThrowIfNull(builder);
        return builder.AddMeter(NodeMeter.Name);
    }

    /// <summary>
    /// Collects the activities of messages that are published and handled, and of requests, on all nodes of the process. While the
    /// provider exists, each message that is published within an activity carries its trace, which takes 27 bytes.
    /// </summary>
    /// <remarks>
    /// Use a sampler that takes few traces at a high rate, such as <c>TraceIdRatioBasedSampler</c>: an activity costs more than a message.
    /// </remarks>
    /// <param name="builder">The builder of the tracer provider.</param>
    /// <returns>The same builder.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="builder"/> is null.</exception>
    public static TracerProviderBuilder AddQuickSilverInstrumentation(this TracerProviderBuilder builder)
    {
        ArgumentNullException.ThrowIfNull(builder);
        return builder.AddSource(MessageTracing.SourceName);
    }
}
