namespace QuickSilver.Multicast.Pacing;

// How many packets a sender may have on the way to one region. Intuition: the region's slowest receive buffer is the
// pipe; filling half of it keeps the wire busy and leaves room for other senders. Application: the window doubles per
// acknowledgement until the first sign of loss, then grows by a step per acknowledgement and falls by a share when the
// receivers' kernels dropped packets (the papers' additive growth and multiplicative fall). What goes wrong: a link that
// loses at random is not congestion, so losses without kernel drops shrink the window only when they are many.
internal sealed class RateController(int packetBytes)
{
    private const int InitialPackets = 128;
    private const int MinPackets = 64;
    private const int StepPackets = 64;
    private static readonly TimeSpan FallSpacing = TimeSpan.FromMilliseconds(20);

    private long _kernelDrops = -1;
    private bool _sawLoss;
    private TimeSpan _lastFall = TimeSpan.MinValue;
    private int _limit = 2048;

    public int WindowPackets { get; private set; } = InitialPackets;

    public void OnAck(TimeSpan now, long acknowledged, bool wasFull, long kernelDrops, long receiveBufferBytes)
    {
        if (receiveBufferBytes > 0)
        {
            _limit = (int)Math.Clamp(receiveBufferBytes / 2 / packetBytes, MinPackets, 1 << 15);
        }

        bool dropped = _kernelDrops >= 0 && kernelDrops > _kernelDrops;
        _kernelDrops = kernelDrops;
        if (dropped)
        {
            Fall(now);
        }
        else if (wasFull && acknowledged > 0)
        {
            WindowPackets += _sawLoss ? StepPackets : (int)Math.Min(acknowledged, WindowPackets);
        }

        WindowPackets = Math.Clamp(WindowPackets, MinPackets, _limit);
    }

    private void Fall(TimeSpan now)
    {
        _sawLoss = true;
        if (_lastFall != TimeSpan.MinValue && now - _lastFall < FallSpacing)
        {
            return;
        }

        _lastFall = now;
        WindowPackets = WindowPackets * 7 / 10;
    }
}
