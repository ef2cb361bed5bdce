namespace QuickSilver.Simulation.Checkers;

// I17: what a node keeps never exceeds its bounds, and once all is stable it keeps nothing: no packet, no old view, and no
// more blocks than its streams pack into and one that it receives into. So nothing can grow with the packets that went through.
internal sealed class MemoryChecker : HistoryChecker
{
    public override string Invariant => "I17";

    public long MostRetainedBytes { get; init; } = 80L << 20;

    /// <summary>Of one stream, at one receiver.</summary>
    public long MostKeptPackets { get; init; } = 1 << 16;

    public override void On(in MemoryReading reading)
    {
        string node = $"Node {reading.Node} ({reading.Life})";
        if (reading.RetainedBytes > MostRetainedBytes)
        {
            Violate(reading.At, $"{node} retains {reading.RetainedBytes} bytes that it sent; {MostRetainedBytes} are its bound.");
        }

        if (reading.KeptPackets > MostKeptPackets)
        {
            Violate(reading.At, $"{node} keeps {reading.KeptPackets} packets of one stream; {MostKeptPackets} are its bound.");
        }

        if (!reading.IsQuiet)
        {
            return;
        }

        if (reading.RetainedBytes > 0 || reading.KeptPackets > 0 || reading.OldViews > 0)
        {
            string what = $"{reading.RetainedBytes} bytes sent, {reading.KeptPackets} packets received and {reading.OldViews} old views";
            Violate(reading.At, $"{node} still keeps {what}, though all is stable.");
        }

        if (reading.LeasedBlocks > reading.OutboundStreams + 1)
        {
            string what = $"{reading.LeasedBlocks} blocks of packet memory in use, with {reading.OutboundStreams} streams to pack";
            Violate(reading.At, $"{node} has {what}, though all is stable.");
        }
    }
}
