namespace QuickSilver.Multicast.Nodes;

// What experiments change, to measure what a mechanism does. The defaults are what nodes do.
internal sealed record Experiments
{
    // The leader of a ring releases a token this long after the last one has returned, whatever happens meanwhile. Null: a token is sent
    // when there is something to report.
    public TimeSpan? TokenInterval { get; init; }

    // With 1, an acknowledgement reports up to which packet all members hold everything. With more, it also reports in so many ranges what
    // they hold beyond that, and the sender releases those packets.
    public int FeedbackRanges { get; init; } = 1;

    // Pulls of what other members keep wait until the keepers of the packet are known to hold it (001, section 6.4).
    public bool PullsWaitForKeepers { get; init; }
}
