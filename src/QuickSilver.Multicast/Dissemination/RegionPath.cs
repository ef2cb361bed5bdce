using System.Net;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Dissemination;

// How a run reaches the members of a view: the seam at which overlays plug in.
internal interface IRegionPath
{
    int MaxRunSegments { get; }

    SendOutcome Send(ReadOnlySpan<byte> run, int segmentBytes);
}

// One IP multicast to the region's group.
internal sealed class MulticastPath(IDatagramPort port, IPEndPoint group) : IRegionPath
{
    private readonly DatagramAddress _group = new(group);

    public int MaxRunSegments => port.MaxRunSegments;

    public SendOutcome Send(ReadOnlySpan<byte> run, int segmentBytes) => port.Send(run, segmentBytes, _group);
}

// A copy to each live member, where the network has no multicast or the region no group. A copy that the system refuses is a
// loss like any other: the ring repairs it; only when the first copy finds no room is the whole run put off.
internal sealed class UnicastFanOut(IDatagramPort port, RegionView view, NodeDirectory directory) : IRegionPath
{
    public int MaxRunSegments => port.MaxRunSegments;

    public SendOutcome Send(ReadOnlySpan<byte> run, int segmentBytes)
    {
        bool any = false;
        foreach (var member in view.Members)
        {
            if (directory.Find(member) is { } address)
            {
                var outcome = port.Send(run, segmentBytes, address);
                if (outcome == SendOutcome.Busy && !any)
                {
                    return SendOutcome.Busy;
                }

                any = true;
            }
        }

        return SendOutcome.Sent;
    }
}
