using System.Diagnostics;
using System.Globalization;

namespace QuickSilver.Diagnostics;

// Traces of messages, by the conventions of OpenTelemetry for messaging systems. A publish call is an activity of its own, whose context
// the message carries. Each handler and each consumer of the message has an activity with that context as its parent, so one trace shows
// all that a message set off on all nodes.
//
// Without a listener none of this exists, and messages carry no trace: nothing is paid for what nobody reads.
internal static class MessageTracing
{
    private const string System = "quicksilver";

    private static readonly ActivitySource Source = new("QuickSilver");

    /// <summary>Whether a listener is attached to the source.</summary>
    public static bool IsOn => Source.HasListeners();

    /// <summary>Starts the activity of a publish call; null if it is not sampled.</summary>
    public static Activity? StartPublish(string topic, MessageHeaders? headers)
    {
        var activity = Source.StartActivity($"publish {topic}", ActivityKind.Producer);
        if (activity is { IsAllDataRequested: true })
        {
            Describe(activity, topic, "publish", "send", headers);
        }

        return activity;
    }

    /// <summary>Starts the activity of a handler or consumer; null if the message carries no trace, or it is not sampled.</summary>
    public static Activity? StartProcess<T>(string topic, in Message<T> message)
    {
        if (message.Headers is not { TraceContext: { } trace } headers || !IsOn)
        {
            return null;
        }

        var activity = Source.StartActivity($"process {topic}", ActivityKind.Consumer, trace);
        if (activity is { IsAllDataRequested: true })
        {
            Describe(activity, topic, "process", "process", headers);
            activity.SetTag("messaging.message.id", string.Create(CultureInfo.InvariantCulture, $"{message.Sender}:{message.Sequence}"));
        }

        return activity;
    }

    /// <summary>Ends an activity. An exception is its error.</summary>
    public static void End(Activity? activity, Exception? fault)
    {
        if (activity is null)
        {
            return;
        }

        if (fault is not null)
        {
            activity.SetStatus(ActivityStatusCode.Error, fault.Message);
            activity.SetTag("error.type", fault.GetType().FullName);
        }

        activity.Dispose();
    }

    private static void Describe(Activity activity, string topic, string operation, string type, MessageHeaders? headers)
    {
        activity.SetTag("messaging.system", System);
        activity.SetTag("messaging.operation.name", operation);
        activity.SetTag("messaging.operation.type", type);
        activity.SetTag("messaging.destination.name", topic);
        if (headers?.CorrelationId is { } correlation)
        {
            activity.SetTag("messaging.message.conversation_id", correlation);
        }
    }
}
