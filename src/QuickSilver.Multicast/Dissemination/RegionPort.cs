using System.Net;
using QuickSilver.Core.Transport;

namespace QuickSilver.Multicast.Dissemination;

// The receiving port of one region's group, shared by that region's views, old and new; closed with the last of them.
internal sealed class RegionPort(MulticastContext context, IPEndPoint group, IDatagramReceiver receiver, Action<RegionPort> closed)
{
    private static readonly TimeSpan DropSampleInterval = TimeSpan.FromMilliseconds(20);

    private readonly IDatagramPort _port = context.Environment.OpenPort(
        new DatagramPortOptions
        {
            Group = group.Address,
            Port = group.Port,
            ReceiveBufferBytes = context.Options.ReceiveBufferBytes,
            SegmentationOffload = context.Options.SegmentationOffload,
        },
        receiver);

    private int _users;
    private long _drops;
    private TimeSpan _sampledAt = TimeSpan.MinValue;

    public IPEndPoint Group { get; } = group;

    public int ReceiveBufferBytes => _port.ReceiveBufferBytes;

    // Reading the kernel's counter may cost a system call: sampled, not read at every token.
    public long KernelDrops
    {
        get
        {
            var now = context.Environment.Now;
            if (_sampledAt == TimeSpan.MinValue || now - _sampledAt >= DropSampleInterval)
            {
                _sampledAt = now;
                long drops = _port.KernelDrops;
                context.Counters.KernelDrops += drops - _drops;
                _drops = drops;
            }

            return _drops;
        }
    }

    public void AddUser() => _users++;

    public void RemoveUser()
    {
        if (--_users == 0)
        {
            _port.Dispose();
            closed(this);
        }
    }
}
