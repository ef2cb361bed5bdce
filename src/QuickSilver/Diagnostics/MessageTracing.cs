using System.Diagnostics;
using System.Globalization;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Views;

namespace QuickSilver.Diagnostics;

// Traces of messages, by the conventions of OpenTelemetry for messaging systems. A publish call is an activity of its own, whose context
// the message carries. Each handler and each consumer of the message has an activity with that context as its parent, so one trace shows
// all that a message set off on all nodes.
//
// Without a listener none of this exists, and messages carry no trace, so unused traces cost nothing.
internal static class MessageTracing
{
    public const string SourceName = "QuickSilver";

    private const string System = "quicksilver";
    // In place of the name, which is another for each node: the names of activities group them, so they must be few.
    private const string InboxTemplate = "quicksilver/inbox/{node}";

    private static readonly ActivitySource Source = new(SourceName);

    /// <summary>Whether a listener is attached to the source.</summary>
    public static bool IsOn => Source.HasListeners();

    /// <summary>Starts the activity of a publish call; null if it is not sampled.</summary>
    public static Activity? StartPublish(string topic, MessageHeaders? headers)
    {
        var activity = Start($"publish {TemplateOf(topic)}", ActivityKind.Producer);
        if (activity is { IsAllDataRequested: true })
        {
            Describe(activity, topic, "publish", "send", headers);
        }

        return activity;
    }

    /// <summary>Starts the activity of a handler or consumer; null if the message carries no trace, or it is not sampled.</summary>
    /// <param name="topic">The name of the topic.</param>
    /// <param name="message">The message.</param>
    /// <param name="names">The names of senders.</param>
    public static Activity? StartProcess<T>(string topic, in Message<T> message, INodeNames names)
    {
        if (message.Headers is not { TraceContext: { } trace } headers || !IsOn)
        {
            return null;
        }

        var activity = Start($"process {TemplateOf(topic)}", ActivityKind.Consumer, trace);
        if (activity is { IsAllDataRequested: true })
        {
            Describe(activity, topic, "process", "process", headers);
            activity.SetTag("messaging.message.id", string.Create(CultureInfo.InvariantCulture, $"{message.Sender}:{message.Sequence}"));
            if (names.Named(message.Sender).Name is { Length: > 0 } sender)
            {
                activity.SetTag("quicksilver.sender.name", sender);
            }
        }

        return activity;
    }

    /// <summary>
    /// Starts the activity of a request; null if it is not sampled. It lasts until the request ends, and does not become the current one.
    /// </summary>
    public static Activity? StartRequest(string name)
    {
        var outer = Activity.Current;
        var activity = Start($"request {name}", ActivityKind.Client);
        if (activity is { IsAllDataRequested: true })
        {
            Describe(activity, name, "request", "send", headers: null);
        }

        Activity.Current = outer;
        return activity;
    }

    /// <summary>From any thread: ends the activity of a request.</summary>
    /// <param name="activity">The activity, or null.</param>
    /// <param name="outcome">How it ended, in a word.</param>
    /// <param name="fault">Why there is no answer; null if there is one.</param>
    public static void EndRequest(Activity? activity, string outcome, Exception? fault)
    {
        if (activity is null)
        {
            return;
        }

        activity.SetTag("quicksilver.request.outcome", outcome);
        if (fault is not null)
        {
            activity.SetStatus(ActivityStatusCode.Error, fault.Message);
            activity.SetTag("error.type", outcome);
        }

        EndAside(activity, fault: null);
    }

    /// <summary>
    /// From any thread: ends an activity, and does not change the current one of this thread. An exception is its error.
    /// </summary>
    public static void EndAside(Activity activity, Exception? fault)
    {
        // The end of an activity makes the one before it current, which is not that of this thread.
        var current = Activity.Current;
        End(activity, fault);
        Activity.Current = current;
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
            activity.SetTag("error.type", fault is FaultException typed ? typed.TypeName : fault.GetType().FullName);
        }

        // Listeners are notified within.
        long began = ListenerTime.Begin();
        try
        {
            activity.Dispose();
        }
        catch (Exception)
        {
            ListenerFaults.Add();
            if (ReferenceEquals(Activity.Current, activity))
            {
                Activity.Current = activity.Parent;
            }
        }

        ListenerTime.EndListener(began);
    }

    // Listeners sample it within. Null if one of them throws.
    private static Activity? Start(string name, ActivityKind kind, ActivityContext parent = default)
    {
        long began = ListenerTime.Begin();
        var outer = Activity.Current;
        Activity? activity = null;
        try
        {
            activity = Source.StartActivity(name, kind, parent);
        }
        catch (Exception)
        {
            ListenerFaults.Add();
            Activity.Current = outer;
        }

        ListenerTime.EndListener(began);
        return activity;
    }

    private static void Describe(Activity activity, string topic, string operation, string type, MessageHeaders? headers)
    {
        activity.SetTag("messaging.system", System);
        activity.SetTag("messaging.operation.name", operation);
        activity.SetTag("messaging.operation.type", type);
        if (InboxName.IsInbox(topic))
        {
            activity.SetTag("messaging.destination.template", InboxTemplate);
            activity.SetTag("messaging.destination.temporary", true);
        }
        else
        {
            activity.SetTag("messaging.destination.name", topic);
        }

        if (headers?.CorrelationId is { } correlation)
        {
            activity.SetTag("messaging.message.conversation_id", correlation);
        }
    }

    private static string TemplateOf(string topic) => InboxName.IsInbox(topic) ? InboxTemplate : topic;
}
