using QuickSilver.Core.Transport;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Dissemination;

// Sends a copy to each live member. Used if the network has no multicast or the region has no group. A copy that the system refuses is a
// loss like any other, and the ring repairs it. A copy for which the system has no room waits, and the run continues with it.
internal sealed class UnicastFanOut(IDatagramPort port, RegionView view, NodeDirectory directory) : IDisseminator
{
    private int _next;

    public int MaxRunSegments => port.MaxRunSegments;

    public bool UsesGroup => false;

    public bool IsUnderWay => _next > 0;

    public int SpreadDatagrams { get; private set; }

    public SendOutcome Send(in DataRun run)
    {
        for (; _next < view.Members.Length; _next++)
        {
            if (directory.Find(view.Members[_next]) is { } address && port.Send(run.Bytes, run.SegmentBytes, address) == SendOutcome.Busy)
            {
                return SendOutcome.Busy;
            }
        }

        _next = 0;
        return SendOutcome.Sent;
    }

    public SendOutcome Spread(ReadOnlySpan<byte> packet)
    {
        SpreadDatagrams = 0;
        foreach (var member in view.Members)
        {
            if (directory.Find(member) is { } address)
            {
                port.Send(packet, packet.Length, address);
                SpreadDatagrams++;
            }
        }

        return SendOutcome.Sent;
    }
}
