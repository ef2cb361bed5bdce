using System.Net;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Transport;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Receiving.Ports;

// The receiving port of a region's group. All views of the region share it, and it is closed with the last of them.
//
// If the system refuses the port (in use, no descriptors, no memory, the interface is down), the node still takes part in its views, as a
// deaf member: its port for control packets carries tokens, pulls and repairs, and the group's port is tried again. What goes wrong: a
// system may refuse permanently. Each packet then costs a repair, so the node leaves the cluster after a limit (F20).
internal sealed class RegionPort
{
    // Doubles up to LastRetry: a descriptor may be free soon, a port of another process rarely is.
    private static readonly TimeSpan FirstRetry = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan LastRetry = TimeSpan.FromSeconds(2);

    private readonly NodeContext _context;
    private readonly IDatagramReceiver _receiver;
    private readonly Action<RegionPort> _closed;
    private readonly bool _isOptional;
    private readonly TimeSpan _askedAt;
    private IDatagramPort? _port;
    // Null until the system refuses the port.
    private Alarm? _retry;
    private TimeSpan _pause = FirstRetry;
    private int _users;
    private DropSample _drops;

    /// <param name="parts">What all views of the node share.</param>
    /// <param name="group">The group.</param>
    /// <param name="receiver">Gets what arrives.</param>
    /// <param name="closed">Called when the last user is removed.</param>
    /// <param name="isOptional">Whether the node stays in the cluster however long the system refuses the port.</param>
    public RegionPort(
        ReceivingParts parts, IPEndPoint group, IDatagramReceiver receiver, Action<RegionPort> closed, bool isOptional = false)
    {
        _isOptional = isOptional;
        _context = parts.Node;
        _receiver = receiver;
        _closed = closed;
        _askedAt = _context.Environment.Now;
        Group = group;
        CheckPort(parts);
        TryOpen();
    }

    public IPEndPoint Group { get; }

    /// <summary>Whether the system refuses the port, so that nothing that is sent to the group arrives here.</summary>
    public bool IsDeaf => _port is null;

    /// <summary>The reason of the last refusal; null while the port is open.</summary>
    public string? Refusal { get; private set; }

    /// <summary>The bytes of datagrams of the largest size for which the port has room; 0 if it is not open.</summary>
    public long RoomBytes => _port?.RoomFor(_context.Options.DatagramBytes) ?? 0;

    /// <summary>The datagrams that the kernel dropped because there was no room at this port. The value is sampled.</summary>
    public long KernelDrops
    {
        get
        {
            if (_port is not null && _drops.IsDue(_context.Environment.Now))
            {
                _context.Counters.KernelDrops += _drops.Note(_port.KernelDrops);
            }

            return _drops.Drops;
        }
    }

    public void AddUser() => _users++;

    public void RemoveUser()
    {
        if (--_users == 0)
        {
            Close();
            _closed(this);
        }
    }

    /// <summary>Closes the port at once, even if it has users.</summary>
    public void Close()
    {
        _context.Environment.CancelIfMade(_retry);
        _context.Troubles.End(this);
        _port?.Dispose();
    }

    private void CheckPort(ReceivingParts parts)
    {
        if (_context.Options.EphemeralPorts is { } ports && ports.Contains(Group.Port) && !parts.HasWarnedOfPorts)
        {
            parts.HasWarnedOfPorts = true;
            MulticastLog.GroupPortEphemeral(_context.Log, Group, ports);
        }
    }

    private void TryOpen()
    {
        var options = new DatagramPortOptions
        {
            Group = Group.Address,
            Port = Group.Port,
            ReceiveBufferBytes = _context.Options.ReceiveBufferBytes,
            SegmentationOffload = _context.Options.SegmentationOffload,
        };
        try
        {
            _port = _context.Environment.OpenPort(options, _receiver);
        }
        catch (TransportException refused)
        {
            OnRefused(refused.Message);
            return;
        }

        if (Refusal is not null)
        {
            Refusal = null;
            _context.Troubles.End(this);
            MulticastLog.GroupOpened(_context.Log, Group, _context.Environment.Now - _askedAt);
        }
    }

    private void OnRefused(string reason)
    {
        _context.Counters.RefusedGroups++;
        if (Refusal is null)
        {
            MulticastLog.GroupRefused(_context.Log, Group, reason, _context.Options.GroupRefusalLimit);
        }

        Refusal = reason;
        var refusedFor = _context.Environment.Now - _askedAt;
        if (refusedFor >= _context.Options.GroupRefusalLimit && !_isOptional)
        {
            _context.GiveUp(
                $"the system has refused the group {Group} for {refusedFor.TotalSeconds:0} s ({reason}); "
                + "check for another program on this port, the limit of open files, and the interface");
            return;
        }

        string what = $"The system refuses the group {Group} ({reason}). The node tries again, and gets "
            + (_isOptional ? "what is sent there by repair meanwhile." : "copies by unicast meanwhile.");
        var since = _context.Environment.UtcNow - refusedFor;
        _context.Troubles.Begin(this, new Trouble(TroubleKind.GroupRefused, what, since, "the system to open the port of the group"));
        _context.Environment.Schedule(_retry ??= new Alarm(TryOpen), _pause);
        _pause = _pause * 2 < LastRetry ? _pause * 2 : LastRetry;
    }
}
