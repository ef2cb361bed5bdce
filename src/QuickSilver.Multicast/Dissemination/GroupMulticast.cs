using System.Net;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Hearing;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Dissemination;

// One IP multicast to the region's group, and unicast copies to the members that do not hear the group. If no member hears it, only probes
// are sent to the group.
internal sealed class GroupMulticast(SendingPorts ports, IPEndPoint group, RegionView view, NodeContext context, DeafMembers deaf)
    : IDisseminator
{
    private readonly DatagramAddress _group = new(group);
    // The addresses of the deaf members, and the version of the list from which they were taken. A run in progress keeps the addresses
    // with which it began.
    private DatagramAddress[] _deaf = [];
    private int _version;
    private bool _isGroupNeeded = true;
    private bool _isGroupServed;
    private int _served;

    /// <summary>Multicast if the region has a group and the options allow it; otherwise a copy to each member.</summary>
    public static IDisseminationScheme Scheme { get; } = new Default();

    public int MaxRunSegments => ports.MaxRunSegments;

    public bool UsesGroup => true;

    public bool IsUnderWay { get; private set; }

    public int SpreadDatagrams { get; private set; }

    public SendOutcome Send(in DataRun run) => !IsUnderWay && deaf.IsEmpty
        ? ports.Groups.Send(run.Bytes, run.SegmentBytes, _group)
        : SendWithCopies(run.Bytes, run.SegmentBytes);

    public SendOutcome Spread(ReadOnlySpan<byte> packet)
    {
        if (deaf.IsEmpty)
        {
            SpreadDatagrams = 1;
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

        SpreadDatagrams = _deaf.Length + (_isGroupNeeded ? 1 : 0);
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
        deaf.NoteSent(view.RegionId, _isGroupNeeded);
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
        if (_version == deaf.Version)
        {
            return;
        }

        _deaf = deaf.Targets(view);
        _version = deaf.Version;
        int live = 0;
        foreach (var member in view.Members)
        {
            live += context.Directory.Contains(member) ? 1 : 0;
        }

        _isGroupNeeded = _deaf.Length < live;
    }

    private sealed class Default : IDisseminationScheme
    {
        public INodeDissemination ForNode(IDisseminationParts parts) => new Node(parts);
    }

    private sealed class Node(IDisseminationParts parts) : INodeDissemination
    {
        public bool SharesTopics => !parts.Node.Options.Unicast;

        public bool MayUseGroup(RegionView view) => true;

        public IDisseminator ToSend(RegionView view) => !parts.Node.Options.Unicast && view.Group is { } group
            ? new GroupMulticast(parts.Ports, group, view, parts.Node, parts.Deaf)
            : new UnicastFanOut(parts.Ports.Copies, view, parts.Node.Directory);
    }
}
