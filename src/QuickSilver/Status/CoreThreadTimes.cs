namespace QuickSilver;

/// <summary>
/// The time that a node's core thread spent on each of its queues. The rest of the time it waited, and polled its sockets.
/// </summary>
public sealed record CoreThreadTimes
{
    /// <summary>Received tokens, acknowledgements and requests for repairs.</summary>
    public TimeSpan InboundControl { get; init; }

    /// <summary>Received messages that were sent again after a loss, handlers included.</summary>
    public TimeSpan InboundRepairs { get; init; }

    /// <summary>Received messages, handlers included.</summary>
    public TimeSpan InboundData { get; init; }

    /// <summary>Alarms.</summary>
    public TimeSpan Alarms { get; init; }

    /// <summary>Requests of other threads, most of them publishes.</summary>
    public TimeSpan Requests { get; init; }

    /// <summary>Control packets that were put off to the end of a turn.</summary>
    public TimeSpan OutboundControl { get; init; }

    /// <summary>The sending of messages.</summary>
    public TimeSpan OutboundData { get; init; }

    /// <summary>Completions of the disk.</summary>
    public TimeSpan Disk { get; init; }

    /// <summary>Everything else that was put off to the end of a turn.</summary>
    public TimeSpan Other { get; init; }

    /// <summary>All of it.</summary>
    public TimeSpan Total =>
        InboundControl + InboundRepairs + InboundData + Alarms + Requests + OutboundControl + OutboundData + Disk + Other;
}
