using Microsoft.Extensions.Logging;
using QuickSilver;
using QuickSilver.Hosting;

namespace Telemetry;

// Handles readings outside the node's core thread, so it may wait, as for a database. It has a scope of its own for each message.
internal sealed class Archive(ILogger<Archive> log) : IConsumer<Reading>
{
    public ValueTask ConsumeAsync(Message<Reading> message, CancellationToken cancellationToken)
    {
        log.LogInformation("{Sensor} measured {Celsius} °C at {At:T}.", message.Value.Sensor, message.Value.Celsius, message.Value.At);
        return ValueTask.CompletedTask;
    }

    // Readings that were lost are reported, and never skipped silently.
    public void OnGap(GapNotice gap) => log.LogWarning("Readings are missing: {Gap}", gap);
}
