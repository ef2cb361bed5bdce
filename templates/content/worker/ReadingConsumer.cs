using QuickSilver;
using QuickSilver.Hosting;

namespace QuickSilverWorker;

// Called outside the node's core thread, so it may wait.
public sealed class ReadingConsumer(ILogger<ReadingConsumer> log) : IConsumer<Reading>
{
    public ValueTask ConsumeAsync(Message<Reading> message, CancellationToken cancellationToken)
    {
        log.LogInformation("{Sensor}: {Value:0.000}", message.Value.Sensor, message.Value.Value);
        return ValueTask.CompletedTask;
    }
}
