using System.Diagnostics;
using System.Runtime.CompilerServices;
using QuickSilver.Diagnostics;
using QuickSilver.Feeds;
using QuickSilver.Multicast.Channels;
using QuickSilver.Publishing;
using QuickSilver.Publishing.Feeds;
using QuickSilver.Publishing.Requests;
using QuickSilver.Serialization;

namespace QuickSilver.Endpoints.Publications;

// The publishing half of a typed endpoint: encodes messages, with what they carry besides their payload (headers of the application, the
// time, and the trace), into the lane or, past the lane, into a request.
internal sealed class TypedPublication<T>(TopicEndpoint endpoint, IPayloadCodec<T> codec, TopicOptions options)
    : TopicPublication(endpoint, options)
{
    // Whether messages without headers of the application carry nothing else.
    private bool IsPlain => !StampsTime && !MessageTracing.IsOn;

    public ValueTask PublishAsync(in T value, CancellationToken cancellationToken) =>
        !IsPlain ? PublishCarrying(in value, null, PublishCompletion.Accepted, cancellationToken)
        : !cancellationToken.IsCancellationRequested && TryPublishInLane(in value, default) ? default
        : PublishPastLane(in value, default, cancellationToken);

    public ValueTask PublishAsync(in T value, PublishCompletion completion, CancellationToken cancellationToken)
    {
        if (completion == PublishCompletion.Accepted)
        {
            return PublishAsync(in value, cancellationToken);
        }

        OptionRules.CheckCompletion(completion);
        return IsPlain
            ? PublishAsStable(in value, default, cancellationToken)
            : PublishCarrying(in value, null, completion, cancellationToken);
    }

    public ValueTask PublishAsync(
        in T value, MessageHeaders? headers, PublishCompletion completion, CancellationToken cancellationToken)
    {
        OptionRules.CheckCompletion(completion);
        return PublishCarrying(in value, headers, completion, cancellationToken);
    }

    public IAttachedFeed AttachFeed(FeedCallback<T> feed)
    {
        ArgumentNullException.ThrowIfNull(feed);
        return AttachFeed(new CallbackFeed<T>(feed));
    }

    public IAttachedFeed AttachFeed(IMessageFeed<T> feed)
    {
        ArgumentNullException.ThrowIfNull(feed);
        CheckPublishes();
        var attached = new TypedFeed<T>(Topic.Publisher, this, Topic.Name, codec, feed, Topic.OnFeedFault);
        Attach(attached, feed);
        return attached;
    }

    private ValueTask PublishCarrying(
        in T value, MessageHeaders? headers, PublishCompletion completion, CancellationToken cancellationToken)
    {
        if (!MessageTracing.IsOn)
        {
            return PublishWith(in value, headers, completion, default, cancellationToken);
        }

        var outer = Activity.Current;
        var activity = MessageTracing.StartPublish(Topic.Name, headers);
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

    private ValueTask PublishAsStable(in T value, ReadOnlySpan<byte> extensions, CancellationToken cancellationToken) =>
        cancellationToken.IsCancellationRequested
            ? ValueTask.FromCanceled(cancellationToken)
            : EnterUntilStable(Encode(value, extensions), cancellationToken);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private ValueTask PublishPastLane(in T value, ReadOnlySpan<byte> extensions, CancellationToken cancellationToken)
    {
        if (cancellationToken.IsCancellationRequested)
        {
            return ValueTask.FromCanceled(cancellationToken);
        }

        var request = Encode(value, extensions);
        request.FitsLane = request.Payload.Length <= Lane.MaxPayloadBytes;
        return EnterOrWait(request, cancellationToken);
    }

    // The path of most messages: they are encoded where the core thread reads them.
    private bool TryPublishInLane(in T value, ReadOnlySpan<byte> extensions)
    {
        CheckAccepts();
        if (Lane.IsAnyPast && Gate.IsPastLane)
        {
            return false;
        }

        // Claiming too much room in the lane is cheap: bytes that are claimed and not written are never touched.
        int size;
        try
        {
            // A negative size counts as too large. The path outside the lane reports it as an error of the codec.
            size = codec.GetMaxSize(value);
            if ((uint)size > (uint)Lane.MaxPayloadBytes)
            {
                size = codec.GetSize(value);
            }
        }
        catch (OverflowException overflow)
        {
            throw MessageTooLargeException.BeyondCounting(overflow);
        }
        catch (ArgumentNullException) when (value is null)
        {
            throw NullPayload.OfTopic(Topic.Name);
        }

        if ((uint)size > (uint)Lane.MaxPayloadBytes || size > Topic.MostBytes
            || !Lane.TryClaim(extensions.Length + size, out var claim))
        {
            return false;
        }

        try
        {
            var room = claim.Payload;
            if (!extensions.IsEmpty)
            {
                extensions.CopyTo(room);
                room = room[extensions.Length..];
            }

            size = PayloadEncoding<T>.Write(codec, value, room);
        }
        catch
        {
            Lane.Abandon(claim);
            throw;
        }

        // Set before the commit, which is the fence that CheckStillOpen needs.
        if (!Endpoint.HasPublished)
        {
            Endpoint.HasPublished = true;
        }

        Lane.Commit(claim, Source, size, extensions.Length);
        Intake.Signal();
        CheckStillOpen();
        return true;
    }

    private PublishRequest Encode(in T value, ReadOnlySpan<byte> extensions)
    {
        CheckAccepts();
        int size;
        try
        {
            size = PayloadEncoding<T>.CheckSize(codec, codec.GetSize(value));
        }
        catch (OverflowException overflow)
        {
            throw MessageTooLargeException.BeyondCounting(overflow);
        }
        catch (ArgumentNullException) when (value is null)
        {
            throw NullPayload.OfTopic(Topic.Name);
        }

        MessageTooLargeException.ThrowIfOver(size);

        if (size > Topic.MostBytes)
        {
            throw MessageTooLargeException.ForNow(size, Topic.MostBytes);
        }

        var request = Topic.Node.Requests.Rent();
        try
        {
            request.SetLength(PayloadEncoding<T>.Write(codec, value, request.Prepare(size, extensions)));
        }
        catch
        {
            request.Recycle();
            throw;
        }

        request.Origin = this;
        request.Charge = extensions.Length + size + PublishBudget.MessageOverhead;
        Endpoint.HasPublished = true;
        return request;
    }
}
