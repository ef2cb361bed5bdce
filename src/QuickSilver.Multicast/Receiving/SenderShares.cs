namespace QuickSilver.Multicast.Receiving;

// Among how many senders the receive buffer of this member is divided, in one view.
//
// Intuition: what several senders have under way together must fit into one receive buffer (000, figure 15, has two senders; the released
// source lets senders of a region compete or share). A sender that sends little needs little of it. So each sender counts by what comes of
// it: the count is that of equal senders among whom the traffic would be as concentrated, the square of the sum of the rates divided by the
// sum of their squares. Application: a sender has at most half of the buffer that a member reports in flight, and a member reports to
// each its part of the buffer. So all together fill half of it; the other half is for what the kernel adds to packets, and for senders that
// begin. What goes wrong: on a busy machine, senders take turns for milliseconds and look like one sender at a time, so what counts is what
// came in the last tenth of a second. A sender that begins has sent little in that time and grows fast, so what came in the last moment
// counts too; the count rises at once and falls slowly.
internal sealed class SenderShares
{
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(5);

    // Fewer packets in an interval than this do not fill a buffer, from whichever senders they come.
    private const long LeastPackets = 64;

    // The part of what came before, and of a difference by which the count falls, that goes in an interval: half of it in some 70 ms.
    private const double Fading = 0.05;

    private TimeSpan _lookedAt;

    /// <summary>How many equal senders there are; 1 or more.</summary>
    public double Senders { get; private set; } = 1;

    /// <summary>Looks how far the streams have come, if enough time has passed since it was last asked.</summary>
    public void Look(List<InboundStream> streams, TimeSpan now)
    {
        if (now - _lookedAt < Interval)
        {
            return;
        }

        _lookedAt = now;
        var last = default(Concentration);
        var lately = default(Concentration);
        foreach (var stream in streams)
        {
            ref var traffic = ref stream.Traffic;
            double packets = Math.Max(0, stream.Arrived - traffic.Through);
            traffic = new StreamTraffic(stream.Arrived, (traffic.Lately * (1 - Fading)) + packets);
            last.Add(packets);
            lately.Add(traffic.Lately);
        }

        double senders = Math.Max(last.Parts(LeastPackets), lately.Parts(LeastPackets / Fading));
        Senders = senders > Senders ? senders : Senders + (Fading * (senders - Senders));
    }

    /// <summary>Each sender's part of a buffer of this size.</summary>
    public long ShareOf(long bytes) => (long)(bytes / Senders);

    private struct Concentration
    {
        private double _sum;
        private double _squares;

        public void Add(double packets)
        {
            _sum += packets;
            _squares += packets * packets;
        }

        // Into how many equal parts the sum would be as concentrated; 1 if it is too small to matter.
        public readonly double Parts(double least) => _sum < least ? 1 : _sum * _sum / _squares;
    }
}

// What came of a stream: up to which packet it was counted, and how many packets lately, older ones counting less.
internal readonly record struct StreamTraffic(long Through, double Lately);
