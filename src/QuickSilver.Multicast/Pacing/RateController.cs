namespace QuickSilver.Multicast.Pacing;

// How many packets a sender may have in flight to one region.
//
// Intuition: the region's smallest receive buffer is the capacity of the path; using half of it keeps the network busy and leaves room for
// other senders. Application: the window grows with each acknowledgement, at most doubling, until the first sign of loss. After that it
// grows by a constant step per acknowledgement, and shrinks by a factor when the kernels of receivers dropped packets (additive increase,
// multiplicative decrease, as in TCP; the papers adapt a rate instead, 000 section 5.7). What goes wrong: random loss on a link is not
// congestion, so losses without kernel drops do not shrink the window. Senders that begin together would fill the buffers before members
// have counted them, so a window that is not small any more takes some time to double, however often acknowledgements come.
internal sealed class RateController(int packetBytes)
{
    private const int InitialPackets = 128;
    private const int MinPackets = 64;
    private const int StepPackets = 64;
    // A window up to this part of its limit doubles as fast as acknowledgements come.
    private const int SmallPart = 8;
    private static readonly TimeSpan FallSpacing = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan DoublingTime = TimeSpan.FromMilliseconds(20);

    private long _kernelDrops = -1;
    private bool _sawLoss;
    private TimeSpan _lastFall = TimeSpan.MinValue;
    private TimeSpan _lastAck;
    private int _limit = 2048;

    public int WindowPackets { get; private set; } = InitialPackets;

    /// <summary>Called with each acknowledgement. Returns whether kernels of members have dropped packets since the last.</summary>
    public bool OnAck(TimeSpan now, long acknowledged, bool wasFull, long kernelDrops, long receiveBufferBytes)
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
            WindowPackets += _sawLoss ? StepPackets : (int)Math.Min(acknowledged, GrowthIn(now - _lastAck));
        }

        _lastAck = now;
        WindowPackets = Math.Clamp(WindowPackets, MinPackets, _limit);
        return dropped;
    }

    private int GrowthIn(TimeSpan elapsed) =>
        WindowPackets < _limit / SmallPart || elapsed >= DoublingTime ? WindowPackets : (int)(WindowPackets * (elapsed / DoublingTime));

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
