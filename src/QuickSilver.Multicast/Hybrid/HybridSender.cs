using System.Net;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Flow;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Sending;
using QuickSilver.Multicast.Sending.Acknowledgement;
using QuickSilver.Multicast.Sending.Shared;

namespace QuickSilver.Multicast.Hybrid;

// Sends the messages of one topic once to the topic's address, instead of once into each region (the hybrid mode of the released source).
//
// Intuition: the streams into the regions carry the same messages, and differ in numbers only. So their packets are sent as one, with a
// list of the numbers (SharedPacket). Each stream keeps them under its own numbers, and everything after that is per region: order,
// windows, acknowledgements, repairs.
//
// Application: messages are packed into a run, like those of a stream. The run gets its numbers when it is sent. It goes to a region in
// this way if nothing of the region's stream waits before it, the window is open, all members have acknowledged the topic's first message
// in the view, and all of them hear. Other regions get it by themselves.
//
// What goes wrong: a run is larger than what is left of a window. It waits until all windows are open, because the ordinary way would cost
// a send for each region. If a window stays closed for Patience, that region gets the run by itself, and is not waited for until its stream
// has caught up. Then the topic is as fast as that region, as it is without an address.
//
// Invariants: while messages are packed and have no numbers, this feed is noted to be flushed or is patient. All of them have numbers
// before a view of a region ends.
internal sealed class HybridSender : IPatientFeed
{
    private static readonly TimeSpan Patience = TimeSpan.FromMilliseconds(10);
    private static readonly TimeSpan SocketPause = TimeSpan.FromMilliseconds(1);
    private static readonly TimeSpan MemoryPause = TimeSpan.FromMilliseconds(50);

    private readonly SendingParts _parts;
    private readonly IHybridTopic _topic;
    private readonly Alarm _alarm;
    private readonly TopicLine _line = new();
    private readonly List<StabilityClaim> _claims = [];
    // The streams for which the run is sent to the topic's address. Empty between runs.
    private readonly List<SharedPart> _listed = [];
    // The regions that are not waited for.
    private readonly HashSet<ulong> _late = [];
    private RegionSender[] _routes = [];
    private SharedPacker? _packer;
    private DatagramAddress? _address;
    private IPEndPoint? _group;
    private long _since;
    private bool _wantsAck;
    private bool _isPatient;
    private TimeSpan _patienceEnd;

    public HybridSender(SendingParts parts, IHybridTopic topic)
    {
        _parts = parts;
        _topic = topic;
        _alarm = new Alarm(OnAlarm);
    }

    bool IFeed.IsInLine { get; set; }

    public bool IsFlushNoted { get; set; }

    /// <summary>Whether nothing waits that has no numbers yet.</summary>
    public bool IsEmpty => _packer is null or { IsEmpty: true };

    /// <summary>About how many bytes of messages fit into the run that is packed.</summary>
    public int RoomBytes => _packer?.RoomBytes ?? int.MaxValue;

    /// <summary>Called after each configuration, when nothing waits.</summary>
    /// <param name="routes">The streams into the regions of the topic.</param>
    /// <param name="group">The topic's address; null: it has none.</param>
    /// <param name="since">The configuration that gave the topic this address.</param>
    public void Route(RegionSender[] routes, IPEndPoint? group, long since)
    {
        if (!IsEmpty)
        {
            throw new InvalidOperationException("The views have changed while messages wait that were accepted before.");
        }

        _routes = routes;
        _since = since;
        _late.RemoveWhere(region => !Array.Exists(routes, route => route.View.RegionId == region));
        if (!Equals(group, _group))
        {
            _group = group;
            _address = group is null ? null : new DatagramAddress(group);
        }

        int packetBytes = _parts.Paths.Sizes.Smallest;
        int entries = Math.Min(routes.Length, SharedPacket.MostEntries(packetBytes));
        if (group is null || routes.Length == 0 || _packer?.Entries != entries || _packer.PacketBytes != packetBytes)
        {
            _packer?.Rest();
            _packer = null;
        }

        if (group is not null && routes.Length > 0)
        {
            var template = _parts.Node.Template().Of(_topic.Class.Value);
            _packer ??= new SharedPacker(
                _parts.Node.Environment.Buffers, template, packetBytes, entries, _parts.PacketsInRun(packetBytes));
        }
    }

    /// <summary>
    /// Whether a message of this size is sent to the topic's address, now or when there is room. Not since a path has become too narrow for
    /// its packets: until the next configuration, the streams of the regions take it.
    /// </summary>
    public bool Takes(int payloadBytes) =>
        _packer is { } packer && payloadBytes <= packer.MostPayload && packer.PacketBytes <= _parts.Paths.Sizes.Smallest;

    /// <summary>Whether there is room for a message that it takes.</summary>
    public bool HasRoomFor(int payloadBytes) => _packer!.HasRoomFor(payloadBytes);

    /// <summary>The topic waits until there is room.</summary>
    public void Await(ITopicFeed topic)
    {
        _line.Add(topic);
        _parts.Sockets.Register(this);
    }

    /// <summary>Packs one message. The caller has checked that there is room, and packet memory.</summary>
    public void Append(long sequence, ReadOnlySpan<byte> extensions, ReadOnlySpan<byte> payload, StabilityClaim? claim)
    {
        _packer!.Append(_topic.TopicId, sequence, extensions, payload);
        if (claim is not null)
        {
            Claim(claim, wantsAck: true);
        }

        if (!_isPatient)
        {
            _parts.Sockets.FlushSoon(this);
        }
    }

    /// <summary>Passes the claim to the streams with the messages that wait.</summary>
    public void Claim(StabilityClaim claim, bool wantsAck)
    {
        _claims.Add(claim);
        _wantsAck |= wantsAck;
    }

    bool IFeed.Pull(ref PullBudget budget)
    {
        if (!IsEmpty && TrySend(mayWait: true))
        {
            budget.Charge(0);
        }

        ServeLine();
        return false;
    }

    void IFlushedFeed.Flush()
    {
        TrySend(mayWait: true);
        ServeLineSoon();
    }

    public void EndPatience()
    {
        TrySend(mayWait: false);
        ServeLineSoon();
    }

    public void Rest() => _packer?.Rest();

    public void Close()
    {
        EndPatience();
        _parts.Node.Environment.Cancel(_alarm);
        _line.Release();
        _packer?.Rest();
        _packer = null;
    }

    private void ServeLine()
    {
        if (_line.Count > 0 && (_packer is null || IsEmpty))
        {
            _line.GiveTurn();
        }
    }

    // Not at once: what is flushed before views change must not be followed by more.
    private void ServeLineSoon()
    {
        if (_line.Count > 0)
        {
            _parts.Sockets.Register(this);
        }
    }

    private void OnAlarm()
    {
        TrySend(mayWait: true);
        ServeLine();
    }

    // Gives the run to its streams. False: it waits.
    private bool TrySend(bool mayWait)
    {
        if (IsEmpty)
        {
            StopWaiting();
            return true;
        }

        bool isSent = TrySendRun(mayWait);
        // The next run may be long after these streams have ended: until then they would be kept with all that they hold.
        _listed.Clear();
        return isSent;
    }

    private bool TrySendRun(bool mayWait)
    {
        // The runs of many topics may leave at once, so each makes room for itself.
        if (mayWait && !RegionSender.TryReserve(_routes, _packer!.Count, _claims.Count, isBeginning: false))
        {
            WaitFor(MemoryPause);
            return false;
        }

        bool isPatient = mayWait && (!_isPatient || _parts.Node.Environment.Now < _patienceEnd);
        if (FindListed(isPatient))
        {
            WaitForWindows();
            return false;
        }

        var packer = _packer!;
        packer.CloseRun();
        WriteAckWanted(packer);
        int saved = SavedByOne();
        if (saved <= 0)
        {
            _listed.Clear();
        }

        int sent = SendLists(packer);
        if (sent == 0 && _listed.Count > 0 && mayWait)
        {
            WaitFor(SocketPause);
            return false;
        }

        Take(packer);
        NoteSent(packer, sent, saved);
        foreach (var route in _routes)
        {
            route.Shared.SendRest();
        }

        packer.BeginRun();
        StopWaiting();
        return true;
    }

    // Finds the streams for which the run is sent to the topic's address. Returns whether to wait for others.
    private bool FindListed(bool isPatient)
    {
        int count = _packer!.Count;
        bool mustWait = false;
        foreach (var route in _routes)
        {
            ulong region = route.View.RegionId;
            var part = route.Shared;
            bool isReady = part.IsReadyFor(count);
            if (isReady)
            {
                _late.Remove(region);
            }

            if (!IsKnownTo(route) || !SharedPacket.HasRoomFor(part.Next + count))
            {
                continue;
            }

            if (isReady)
            {
                _listed.Add(part);
            }
            else if (isPatient)
            {
                mustWait |= !_late.Contains(region);
            }
            else
            {
                _late.Add(region);
            }
        }

        return mustWait;
    }

    // Whether all members of the view are known to have joined the topic's address, and none is known not to hear it. A member that has
    // acknowledged something in a view knows the addresses that were given out before it.
    private bool IsKnownTo(RegionSender route) =>
        _address is not null
        && (route.View.Configuration >= _since || _topic.Settled >= _since)
        && _topic.HasBegunIn(route)
        && SharedPacket.UpperHalfOf(route.View.RegionId) == SharedPacket.UpperHalfOf(_routes[0].View.RegionId)
        && (_parts.Deaf.IsEmpty || !_parts.Deaf.HasAnyIn(route.View))
        && (_parts.Unheard is not { } unheard || !unheard.Contains(_topic.TopicId, route.View.RegionId));

    private void WriteAckWanted(SharedPacker packer)
    {
        foreach (var route in _routes)
        {
            _wantsAck |= route.WantsAck(route.Last + packer.Count);
        }

        if (_wantsAck)
        {
            _wantsAck = false;
            PacketTemplate.AddFlags(packer.PacketAt(packer.Count - 1), PacketFlags.AckWanted);
        }
    }

    // How many sends fewer one shared packet makes.
    private int SavedByOne()
    {
        int saved = -1;
        foreach (var part in _listed)
        {
            saved += part.Sends;
        }

        return saved;
    }

    // Sends the run with as many lists as the streams need, until the system takes no more. Returns how many packets it took.
    private int SendLists(SharedPacker packer)
    {
        int sent = 0;
        for (int first = 0; first < _listed.Count && sent == packer.Count * (first / packer.Entries); first += packer.Entries)
        {
            sent += SendRun(packer, first, Math.Min(packer.Entries, _listed.Count - first));
        }

        return sent;
    }

    // Sends the run with the numbers of these streams. Returns how many packets the system took.
    private int SendRun(SharedPacker packer, int first, int listed)
    {
        for (int i = 0; i < packer.Count; i++)
        {
            var packet = packer.PacketAt(i);
            var list = new SharedList(packer.Run[i].Length, listed, packer.Entries);
            for (int entry = 0; entry < listed; entry++)
            {
                var part = _listed[first + entry];
                var view = part.Stream.View;
                SharedPacket.WriteEntry(packet, list, entry, new SharedEntry(view.RegionId, view.Number, part.Next + i));
            }

            SharedPacket.WriteTail(packet, list, _listed[first].Stream.View.RegionId);
            PacketTemplate.Seal(packet);
        }

        var port = _parts.GroupPort!;
        int sent = 0;
        while (sent < packer.Count)
        {
            int count = Math.Min(port.MaxRunSegments, packer.Count - sent);
            var outcome = port.Send(packer.Packets(sent, count), packer.PacketAt(sent).Length, _address!);
            if (outcome == SendOutcome.Busy)
            {
                _parts.Node.Counters.BusySends++;
                break;
            }

            _parts.Node.Counters.RefusedSends += outcome == SendOutcome.Refused ? 1 : 0;
            _parts.Node.Counters.BytesSent += packer.Packets(sent, count).Length;
            sent += count;
        }

        return sent;
    }

    // The streams keep the run, and the claims on its messages.
    private void Take(SharedPacker packer)
    {
        foreach (var route in _routes)
        {
            var part = route.Shared;
            foreach (var packet in packer.Run)
            {
                part.Take(packer.Block, packet.Offset, packet.Length, _routes.Length);
            }

            foreach (var claim in _claims)
            {
                route.ClaimPacked(claim, wantsAck: false);
            }
        }

        _claims.Clear();
    }

    // So many packets were sent: the run with the first list, then with the next ones.
    private void NoteSent(SharedPacker packer, int sent, int saved)
    {
        for (int i = 0; i < _listed.Count; i++)
        {
            _listed[i].OnSent(Math.Clamp(sent - (packer.Count * (i / packer.Entries)), 0, packer.Count));
        }

        long once = Math.Min(sent, packer.Count);
        _parts.Node.Counters.PacketsSent += sent;
        _parts.Node.Counters.SharedPacketsSent += sent;
        _parts.Node.Counters.SendsSaved += (saved * once) - (sent - once);
    }

    private void WaitForWindows()
    {
        BePatient();
        if (!_alarm.IsPending)
        {
            _parts.Node.Environment.Schedule(_alarm, _patienceEnd - _parts.Node.Environment.Now);
        }

        _topic.AwaitProgress(this);
    }

    private void WaitFor(TimeSpan pause)
    {
        BePatient();
        _parts.Node.Environment.Schedule(_alarm, pause);
    }

    private void BePatient()
    {
        if (!_isPatient)
        {
            _isPatient = true;
            _patienceEnd = _parts.Node.Environment.Now + Patience;
            _parts.Sockets.AddPatient(this);
        }
    }

    private void StopWaiting()
    {
        if (_isPatient)
        {
            _isPatient = false;
            _parts.Node.Environment.Cancel(_alarm);
            _parts.Sockets.RemovePatient(this);
        }
    }
}

// The topic of a hybrid sender, and what its node knows.
internal interface IHybridTopic
{
    ulong TopicId { get; }

    StreamClass Class { get; }

    /// <summary>All nodes have confirmed the configurations up to this one.</summary>
    long Settled { get; }

    /// <summary>Whether all members of the view of this stream have acknowledged where the topic begins there.</summary>
    bool HasBegunIn(RegionSender route);

    /// <summary>The feed gets a turn when an acknowledgement has come.</summary>
    void AwaitProgress(IFeed feed);
}
