using Serilog.Core;
using Serilog.Events;

namespace QuickSilver.Tool.Sessions;

// The number of a log message, by which an alarm finds it. Of EventId only the number is of use: the name repeats the message.
internal sealed class EventNumber : ILogEventEnricher
{
    private const string Property = "Event";

    public void Enrich(LogEvent logEvent, ILogEventPropertyFactory propertyFactory)
    {
        if (Of(logEvent) is { } number)
        {
            logEvent.AddPropertyIfAbsent(new LogEventProperty(Property, new ScalarValue($" {number}")));
        }
    }

    public static int? Of(LogEvent logEvent) => logEvent.Properties.GetValueOrDefault("EventId") is StructureValue { Properties: var parts }
        && parts.FirstOrDefault(static part => part.Name == "Id")?.Value is ScalarValue { Value: int number }
            ? number
            : null;
}
