using System.Diagnostics;
using QuickSilver.Diagnostics;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Endpoints;

// Publishing with what messages carry besides their payload: headers of the application, the time, and the trace.
internal sealed partial class TopicEndpoint<T>
{
    // Whether messages without headers of the application carry nothing else.
    private bool IsPlain => !StampsTime && !MessageTracing.IsOn;

    /// <summary>
    /// Whether the handler and the consumer start the activities of messages themselves, because the processing of a message may continue
    /// when they have returned. Set before they subscribe.
    /// </summary>
    public bool IsTracedByHandlers { get; set; }

    public ValueTask PublishAsync(
        T value,
        MessageHeaders? headers,
        PublishCompletion completion = PublishCompletion.Accepted,
        CancellationToken cancellationToken = default)
    {
        OptionRules.CheckCompletion(completion);
        return PublishAsync(in value, headers, completion, cancellationToken);
    }

    private ValueTask PublishAsync(
        in T value, MessageHeaders? headers, PublishCompletion completion, CancellationToken cancellationToken)
    {
        if (!MessageTracing.IsOn)
        {
            return PublishWith(in value, headers, completion, default, cancellationToken);
        }

        var outer = Activity.Current;
        var activity = MessageTracing.StartPublish(Name, headers);
        if (activity is null)
        {
            // Not sampled: the trace continues nevertheless, for nodes that sample it.
            return PublishWith(in value, headers, completion, outer?.Context ?? default, cancellationToken);
        }

        ValueTask published;
        try
        {
            published = PublishWith(in value, headers, completion, activity.Context, cancellationToken);
        }
        catch (Exception exception)
        {
            MessageTracing.End(activity, exception);
            throw;
        }

        if (published.IsCompletedSuccessfully)
        {
            MessageTracing.End(activity, fault: null);
            return published;
        }

        // The caller continues before the message is published, and outside its activity.
        Activity.Current = outer;
        return new ValueTask(EndAsync(activity, published));
    }

    private ValueTask PublishWith(
        in T value, MessageHeaders? headers, PublishCompletion completion, ActivityContext trace, CancellationToken cancellationToken)
    {
        Span<byte> fields = stackalloc byte[MessageExtensions.MostBytes];
        var time = StampsTime ? Topic.Node.Environment.UtcNow : (DateTimeOffset?)null;
        var extensions = (ReadOnlySpan<byte>)fields[..MessageHeaders.Write(fields, headers, time, trace)];
        if (completion != PublishCompletion.Accepted)
        {
            return PublishAsStable(in value, extensions, cancellationToken);
        }

        return !cancellationToken.IsCancellationRequested && TryPublishInLane(in value, extensions)
            ? default
            : PublishPastLane(in value, extensions, cancellationToken);
    }

    private async Task EndAsync(Activity activity, ValueTask published)
    {
        Exception? fault = null;
        try
        {
            await published.ConfigureAwait(Topic.Node.ResumesInContext);
        }
        catch (Exception exception)
        {
            fault = exception;
            throw;
        }
        finally
        {
            MessageTracing.End(activity, fault);
        }
    }
}
