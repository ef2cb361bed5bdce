using System.Net;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Dissemination;

// How a run reaches the members of a view: the seam at which overlays plug in.
internal interface IRegionPath
{
    int MaxRunSegments { get; }

    /// <summary>Whether some member may miss what is sent because its group does not reach it.</summary>
    bool UsesGroup { get; }

    /// <summary>Busy came when some had the run: it goes on with the others when the same run is sent again.</summary>
    bool IsUnderWay { get; }

    SendOutcome Send(ReadOnlySpan<byte> run, int segmentBytes);

    /// <summary>One packet to all, whatever is under way. Who finds no room in the socket misses it.</summary>
    SendOutcome Spread(ReadOnlySpan<byte> packet);
}

// One IP multicast to the region's group, and copies to those members that do not hear it there. When that is all of them, nothing goes
// to the group but probes.
internal sealed class GroupAndCopies(SendingPorts ports, IPEndPoint group, RegionView view, MulticastContext context) : IRegionPath
{
    private readonly DatagramAddress _group = new(group);
    // Of these members, as of that version of who is deaf; a run that is under way keeps those that it began with.
    private DatagramAddress[] _deaf = [];
    private int _version;
    private bool _isGroupNeeded = true;
    private bool _isGroupServed;
    private int _served;

    public int MaxRunSegments => ports.MaxRunSegments;

    public bool UsesGroup => true;

    public bool IsUnderWay { get; private set; }

    public SendOutcome Send(ReadOnlySpan<byte> run, int segmentBytes) => !IsUnderWay && context.Deaf.IsEmpty
        ? ports.Groups.Send(run, segmentBytes, _group)
        : SendWithCopies(run, segmentBytes);

    public SendOutcome Spread(ReadOnlySpan<byte> packet)
    {
        if (context.Deaf.IsEmpty)
        {
            return ports.Groups.Send(packet, packet.Length, _group);
        }

        if (!IsUnderWay)
        {
            Refresh();
        }

        var outcome = _isGroupNeeded ? ports.Groups.Send(packet, packet.Length, _group) : SendOutcome.Sent;
        foreach (var address in _deaf)
        {
            Copy(packet, packet.Length, address);
        }

        return outcome;
    }

    private SendOutcome SendWithCopies(ReadOnlySpan<byte> run, int segmentBytes)
    {
        if (!IsUnderWay)
        {
            Refresh();
            _isGroupServed = !_isGroupNeeded;
            _served = 0;
        }

        if (!_isGroupServed)
        {
            var outcome = ports.Groups.Send(run, segmentBytes, _group);
            if (outcome == SendOutcome.Busy || _deaf.Length == 0)
            {
                return outcome;
            }

            _isGroupServed = true;
        }

        while (_served < _deaf.Length)
        {
            if (Copy(run, segmentBytes, _deaf[_served]) == SendOutcome.Busy)
            {
                IsUnderWay = true;
                return SendOutcome.Busy;
            }

            _served++;
        }

        IsUnderWay = false;
        context.Deaf.NoteSent(view.RegionId, _isGroupNeeded);
        return SendOutcome.Sent;
    }

    private SendOutcome Copy(ReadOnlySpan<byte> run, int segmentBytes, DatagramAddress to)
    {
        var outcome = ports.Copies.Send(run, segmentBytes, to);
        context.Counters.CopiesSent += outcome == SendOutcome.Sent ? (run.Length + segmentBytes - 1) / segmentBytes : 0;
        return outcome;
    }

    private void Refresh()
    {
        if (_version == context.Deaf.Version)
        {
            return;
        }

        _deaf = context.Deaf.Targets(view);
        _version = context.Deaf.Version;
        int live = 0;
        foreach (var member in view.Members)
        {
            live += context.Directory.Contains(member) ? 1 : 0;
        }

        _isGroupNeeded = _deaf.Length < live;
    }
}

// A copy to each live member, where the network has no multicast or the region no group. A copy that the system refuses is a
// loss like any other: the ring repairs it. One for which it has no room waits, and the run goes on from there.
internal sealed class UnicastFanOut(IDatagramPort port, RegionView view, NodeDirectory directory) : IRegionPath
{
    private int _next;

    public int MaxRunSegments => port.MaxRunSegments;

    public bool UsesGroup => false;

    public bool IsUnderWay => _next > 0;

    public SendOutcome Send(ReadOnlySpan<byte> run, int segmentBytes)
    {
        for (; _next < view.Members.Length; _next++)
        {
            if (directory.Find(view.Members[_next]) is { } address && port.Send(run, segmentBytes, address) == SendOutcome.Busy)
            {
                return SendOutcome.Busy;
            }
        }

        _next = 0;
        return SendOutcome.Sent;
    }

    public SendOutcome Spread(ReadOnlySpan<byte> packet)
    {
        foreach (var member in view.Members)
        {
            if (directory.Find(member) is { } address)
            {
                port.Send(packet, packet.Length, address);
            }
        }

        return SendOutcome.Sent;
    }
}
