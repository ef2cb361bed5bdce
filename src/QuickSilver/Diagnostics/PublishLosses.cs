using Microsoft.Extensions.Logging;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Diagnostics;

// Reports the messages of this node's publishers that were accepted and may never arrive (I25): those that were dropped before they were
// sent, when an endpoint ends, and those that not all members have acknowledged, when the node ends. Core thread only.
//
// When a node ends, its endpoints end one after the other. What they drop is collected, so that there is one report for each topic.
internal sealed class PublishLosses(NodeCounterCells cells, ILogger log)
{
    // Of closed topics. A node that opens and closes topics all the time must not keep the names of all.
    private const int MostNames = 1024;

    // The names of closed topics with messages that were not acknowledged when they were closed. Null while there are none.
    private Dictionary<ulong, string>? _closed;
    // Null unless the node is ending.
    private SortedDictionary<string, Loss>? _collected;
    private bool _isReported;

    /// <summary>What helps, as a sentence. From any thread.</summary>
    public string Remedy { get; set; } =
        "To wait longer, call DrainAsync before you dispose the topic or the node.";

    /// <summary>The topic has no sender any more. Its messages may not be acknowledged yet.</summary>
    public void OnClosed(ulong id, string topic, bool isStable)
    {
        if (_collected is not null || (!isStable && (_closed?.Count ?? 0) < MostNames))
        {
            (_closed ??= [])[id] = topic;
        }
    }

    /// <summary>The node is ending: from now on, losses are collected until they are reported.</summary>
    public void Collect() => _collected ??= new(StringComparer.Ordinal);

    /// <summary>An endpoint has ended, and has dropped messages that it had accepted.</summary>
    public void OnDropped(string topic, long messages, Exception reason, string? waitsFor)
    {
        Volatile.Write(ref cells.PublishDrops, cells.PublishDrops + messages);
        if (reason is OperationCanceledException)
        {
            ApiLog.PublishesCancelled(log, topic, messages);
        }
        else if (_collected is { } collected)
        {
            var loss = collected.GetValueOrDefault(topic);
            collected[topic] = loss with { Dropped = loss.Dropped + messages, WaitsFor = loss.WaitsFor ?? waitsFor };
        }
        else if (reason is ObjectDisposedException)
        {
            Report(topic, new Loss(messages, 0, waitsFor));
        }
        else
        {
            ApiLog.PublishesFailed(log, topic, messages, reason.Message);
        }
    }

    /// <summary>Reports what was collected, with the messages that were sent and are not acknowledged. The latter only once.</summary>
    public void Report(IEnumerable<UnacknowledgedTopic> unacknowledged, Func<ulong, string?> nameOf)
    {
        var losses = _collected ?? new(StringComparer.Ordinal);
        _collected = null;
        foreach (var one in _isReported ? [] : unacknowledged)
        {
            string topic = nameOf(one.Topic) ?? _closed?.GetValueOrDefault(one.Topic) ?? $"{one.Topic:x}";
            var loss = losses.GetValueOrDefault(topic);
            losses[topic] = loss with { Unacknowledged = one.Messages, WaitsFor = loss.WaitsFor ?? one.WaitsFor };
            Volatile.Write(ref cells.Unacknowledged, cells.Unacknowledged + one.Messages);
        }

        _isReported = true;
        foreach (var (topic, loss) in losses)
        {
            Report(topic, loss);
        }
    }

    private void Report(string topic, in Loss loss)
    {
        string waited = loss.WaitsFor is { } reason ? $"They waited for {reason}." : "They waited for their turn.";
        ApiLog.PublishesLost(log, topic, loss.Dropped + loss.Unacknowledged, loss.Dropped, loss.Unacknowledged, waited, Remedy);
    }

    private readonly record struct Loss(long Dropped, long Unacknowledged, string? WaitsFor);
}
