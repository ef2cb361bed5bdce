using QuickSilver.Core.Environment;
using QuickSilver.Diagnostics;
using QuickSilver.Multicast.Channels;
using QuickSilver.Publishing.Lane;
using QuickSilver.Publishing.Requests;

namespace QuickSilver.Publishing;

// Passes one message to a topic's sender: counts it, measures how long it takes to become stable, and distinguishes a message for which
// there is no room now from one for which there never will be. Which message is next is the publisher's business.
//
// Invariant: a message has left the lane, or does not wait any more, before it counts as sent. A thread that reads what was sent first, and
// then what waits, counts no message twice.
//
// A struct within the publisher, because there are thousands of topics and each message goes through it. Never copy it. Core thread only.
internal struct SenderHandover(NodeCounterCells counterCells, PublishLatency latency)
{
    // Null until a message is measured.
    private LatencyProbe? _probe;

    /// <summary>Called for a message for which packet memory can never have room, with its size in bytes and the maximum.</summary>
    public Action<int, long>? Refused { get; set; }

    /// <summary>
    /// Passes a message of the lane, and takes it there. False: there is no room. A message for which there never will be was accepted
    /// before the topic had so many regions: it is lost, and the loss is reported.
    /// </summary>
    public bool TrySend(ITopicSender sender, in LaneMessage message, PublishLane lane)
    {
        int bytes = message.Payload.Length;
        if (!TryPass(sender, message.Payload, message.Extensions))
        {
            return IsImpossible(sender, bytes);
        }

        lane.Take(message);
        counterCells.CountPublished(bytes);
        return true;
    }

    /// <summary>Passes a message that waited, and notifies its waiter. False: there is no room.</summary>
    public bool TrySend(ITopicSender sender, PublishRequest request, INodeEnvironment environment)
    {
        if (request.Stable is { } stable)
        {
            return TrySendStable(sender, request, stable, environment);
        }

        if (request.Feed is not { } feed)
        {
            return TrySendPlain(sender, request);
        }

        if (!TrySendFromFeed(sender, request.Payload, request.Origin!.StampsTime ? environment.UtcNow : null, out var lost))
        {
            return false;
        }

        if (lost is not null)
        {
            feed.OnKeptLost(lost);
        }

        feed.OnKeptSent(sender);
        return true;
    }

    /// <summary>
    /// Passes a message of a feed, with the time of its publishing or without. False: there is no room. A message for which there never
    /// will be counts as sent, and is lost with the reason.
    /// </summary>
    public bool TrySendFromFeed(ITopicSender sender, ReadOnlySpan<byte> message, DateTimeOffset? stamp, out Exception? lost)
    {
        lost = null;
        Span<byte> fields = stackalloc byte[stamp is null ? 0 : MessageExtensions.MostBytes];
        int bytes = stamp is { } time ? MessageHeaders.Write(fields, headers: null, time, trace: default) : 0;
        if (sender.TrySend(message, null, fields[..bytes]) >= 0)
        {
            counterCells.CountPublished(message.Length);
            return true;
        }

        if (!IsImpossible(sender, message.Length))
        {
            return false;
        }

        lost = MessageTooLargeException.ForNow(message.Length, sender.MostBytes);
        return true;
    }

    private bool TrySendPlain(ITopicSender sender, PublishRequest request)
    {
        if (!TryPass(sender, request.Payload, request.Extensions))
        {
            return IsImpossible(sender, request.Payload.Length);
        }

        request.EndWait();
        counterCells.CountPublished(request.Payload.Length);
        return true;
    }

    // The latency is checked first, because all topics share it and it is in the cache.
    private bool TryPass(ITopicSender sender, ReadOnlySpan<byte> payload, ReadOnlySpan<byte> extensions) =>
        latency.IsWatched ? TryPassTimed(sender, payload, extensions) : sender.TrySend(payload, null, extensions) >= 0;

    private bool TryPassTimed(ITopicSender sender, ReadOnlySpan<byte> payload, ReadOnlySpan<byte> extensions)
    {
        var probe = (_probe ??= new LatencyProbe(latency)).TryBegin();
        bool isSent = false;
        try
        {
            isSent = sender.TrySend(payload, probe, extensions) >= 0;
        }
        finally
        {
            if (!isSent && probe is not null)
            {
                _probe!.GiveUp();
            }
        }

        return isSent;
    }

    private bool TrySendStable(ITopicSender sender, PublishRequest request, StableCompletion stable, INodeEnvironment environment)
    {
        // Added to the list first, because a message without subscribers is stable before TrySend returns.
        stable.Begin(environment.Now);
        var unstable = request.Origin!.Unstable;
        unstable.Add(stable);
        bool isSent = false;
        try
        {
            isSent = sender.TrySend(request.Payload, stable, request.Extensions) >= 0;
        }
        finally
        {
            if (!isSent)
            {
                unstable.Remove(stable);
            }
        }

        if (isSent)
        {
            request.EndWait();
            counterCells.CountPublished(request.Payload.Length);
            return true;
        }

        if (!IsImpossible(sender, request.Payload.Length))
        {
            return false;
        }

        stable.Fail(MessageTooLargeException.ForNow(request.Payload.Length, sender.MostBytes));
        return true;
    }

    // Called when there is no room: whether there never will be.
    private readonly bool IsImpossible(ITopicSender sender, int bytes)
    {
        if (bytes <= sender.MostBytes)
        {
            return false;
        }

        Refused?.Invoke(bytes, sender.MostBytes);
        return true;
    }
}
