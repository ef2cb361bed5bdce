namespace QuickSilver.Multicast.Protocols;

// Something that a protocol waits for. While its progress stays the same for longer than the stall limit, the node reports it in its status
// and in its log, and counts it (I21).
internal interface IProtocolWait
{
    /// <summary>A number that changes when the wait makes progress, and only then.</summary>
    long Progress { get; }

    /// <summary>What waits and what for, as a sentence without its stop.</summary>
    string What { get; }

    /// <summary>Whom or what it waits for, as the end of a sentence; null if it waits for nothing in particular.</summary>
    string? WaitsFor { get; }
}
