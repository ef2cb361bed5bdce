namespace QuickSilver.Tool.Scenarios.Catalog;

// What figures show, in one unit each.
internal static class Quantities
{
    public static Curve Throughput { get; } = new("messages/s at a receiver", point => point.MessagesPerSecond);

    public static Curve Kilobytes { get; } = new("KB/s at a member", point => point.KilobytesPerSecond);

    public static Curve Sent { get; } = new("messages/s of all senders", point => point.SentPerSecond);

    public static Curve TokenRoundTrip { get; } = new("token round trip, all levels, ms", point => point.TokenRoundTripMillis);

    public static Curve RingRoundTrip { get; } = new("token round trip of one ring, ms", point => point.RingRoundTripMillis);

    public static Curve TimeToAcknowledge { get; } = new("time to acknowledge, ms", point => point.AckMillis);

    public static Curve PendingAcks { get; } = new("packets pending ACK", point => point.PendingAcks);

    public static Curve SenderKept { get; } = new("kept by the sender, KB", point => point.PendingBytes / 1e3);

    public static Curve ReceiverKept { get; } = new("kept by a receiver, KB", point => point.ReceiverKeptBytes / 1e3);

    public static Curve SenderLive { get; } = new("live at the sender for the collector, MB", point => point.SenderLiveBytes / 1e6);

    public static Curve ReceiverLive { get; } = new("live at a receiver for the collector, MB", point => point.ReceiverLiveBytes / 1e6);

    public static Curve SenderCollector { get; } = new("time in the sender's collector, %", point => point.SenderCollectorShare * 100);

    public static Curve SenderBusy { get; } = new("processor of the sender, %", point => point.SenderBusyShare * 100);

    public static Curve ReceiverBusy { get; } = new("processor of a receiver, %", point => point.ReceiverBusyShare * 100);

    public static Curve Latency { get; } = new("mean latency, ms", point => point.LatencyMeanMillis);

    public static Curve LatencyMedian { get; } = new("median latency, ms", point => point.LatencyMedianMillis);

    public static Curve LatencyP99 { get; } = new("99th percentile of latency, ms", point => point.LatencyP99Millis);

    public static Curve PacketsLost { get; } = new("packets that members missed", point => point.PacketsLost);

    public static Curve MembersRemoved { get; } = new("members removed", point => point.RemovedMembers);

    public static Curve SenderAlarmDelay { get; } = new("mean delay of the sender's alarms, ms", point => point.SenderAlarmDelayMillis);

    public static Curve ReceiverAlarmDelay { get; } =
        new("mean delay of a receiver's alarms, ms", point => point.ReceiverAlarmDelayMillis);
}
