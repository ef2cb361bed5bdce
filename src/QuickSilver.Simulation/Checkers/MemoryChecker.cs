using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Checkers;

// I17: the memory of a node never exceeds its bounds. When everything is stable, the node keeps no packet, no old view, and no more blocks
// than one for each of its outbound streams and one to receive into. So no memory grows with the number of packets.
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
            Violate(reading.At, $"{node} retains {reading.RetainedBytes} bytes that it sent; the bound is {MostRetainedBytes}.");
        }

        if (reading.KeptPackets > MostKeptPackets)
        {
            Violate(reading.At, $"{node} keeps {reading.KeptPackets} packets of one stream; the bound is {MostKeptPackets}.");
        }

        if (!reading.IsQuiet)
        {
            return;
        }

        if (reading.RetainedBytes > 0 || reading.KeptPackets > 0 || reading.OldViews > 0)
        {
            string what = $"{reading.RetainedBytes} bytes sent, {reading.KeptPackets} packets received and {reading.OldViews} old views";
            Violate(reading.At, $"{node} still keeps {what}, although everything is stable.");
        }

        if (reading.LeasedBlocks > reading.OutboundStreams + 1)
        {
            string what = $"{reading.LeasedBlocks} blocks of packet memory in use, with {reading.OutboundStreams} streams to pack";
            Violate(reading.At, $"{node} has {what}, although everything is stable.");
        }
    }
}
