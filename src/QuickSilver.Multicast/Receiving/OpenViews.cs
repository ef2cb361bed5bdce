using System.Collections.Immutable;
using System.Net;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Receiving.Ports;
using QuickSilver.Multicast.Views;

namespace QuickSilver.Multicast.Receiving;

// The views of which this node is a member, by region and number, and the views that it has closed. A view is open from the configuration
// that has it until all nodes have settled it and everything in it was accepted above.
//
// Invariant: LastRegion and LastStream name an open view and one of its streams, or are null. They are cleared whenever a view is closed
// or the directory changes.
internal sealed class OpenViews(ReceivingParts parts, IDatagramReceiver receiver, IViewsObserver observer)
{
    private static readonly TimeSpan CloseRetry = TimeSpan.FromMilliseconds(500);

    // Null until the first view is opened.
    private Dictionary<(ulong Region, uint View), RegionReceiver>? _regions;
    private readonly List<RegionReceiver> _ordered = [];
    // By group; null until the first group is used.
    private Dictionary<IPEndPoint, RegionPort>? _ports;
    // A packet of these views or older ones is stale; one of a newer view is early. Null until a view is closed.
    private ClosedViews? _closed;
    // Null until something is to be closed later. A node among many idle ones has nothing to close.
    private Closing? _closing;
    // Up to this configuration all is settled, but in the views that are open still.
    private long _settled;
    private ImmutableArray<OpenView> _open = [];
    // Something that is settled cannot be closed yet.
    private bool _isAnyLeft;

    /// <summary>In the order in which they were opened.</summary>
    public List<RegionReceiver> All => _ordered;

    public RegionReceiver? LastRegion { get; private set; }

    /// <summary>The stream of the last data packet, in <see cref="LastRegion"/>; null if it is not known.</summary>
    public InboundStream? LastStream { get; private set; }

    /// <summary>The number of views that are remembered as closed.</summary>
    public int Remembered => _closed?.Count ?? 0;

    public RegionReceiver? Find(ulong region, uint view) => _regions?.GetValueOrDefault((region, view));

    /// <summary>Finds the view that a packet names. Returns None, or the reason: the view was closed here, or is not known.</summary>
    public DropReason Find(in PacketHeader header, out RegionReceiver? region)
    {
        region = Find(header.Region, header.View);
        if (region is not null)
        {
            return DropReason.None;
        }

        return _closed is not null && _closed.Contains(header.Region, header.View) ? DropReason.StaleView : DropReason.UnknownView;
    }

    public void Remember(RegionReceiver region, InboundStream stream) => (LastRegion, LastStream) = (region, stream);

    public void OnBatchEnd()
    {
        if (_isAnyLeft)
        {
            CloseSettled(_settled, _open);
        }
    }

    /// <summary>Whether all that was sent in the view, of which this node is or was a member, was handed up here.</summary>
    public bool IsOver(RegionView view) =>
        Find(view.RegionId, view.Number) is not { } region || (IsSettled(region) && region.HasAll);

    /// <summary>Whether no node sends any more in a view of this node that this configuration or an earlier one superseded.</summary>
    public bool IsSettledThrough(long configuration) =>
        _settled >= configuration && _ordered.TrueForAll(region => !IsSupersededBy(region, configuration) || IsSettled(region));

    /// <summary>Whether all packets were read that have come in those views.</summary>
    public bool HasAllThrough(long configuration) =>
        _ordered.TrueForAll(region => !IsSupersededBy(region, configuration) || region.HasAll);

    public void Open(RegionView view, IStreamConsumer consumer)
    {
        RegionPort? port = null;
        if (!Context.Options.Unicast && view.Group is { } group && parts.Dissemination.MayUseGroup(view))
        {
            var ports = _ports ??= [];
            if (!ports.TryGetValue(group, out port))
            {
                port = new RegionPort(parts, group, receiver, closed => ports.Remove(closed.Group));
                ports.Add(group, port);
            }
        }

        var region = new RegionReceiver(parts, view, port, consumer);
        (_regions ??= []).Add((view.RegionId, view.Number), region);
        _ordered.Add(region);
    }

    public void Supersede(ulong regionId, long configuration)
    {
        foreach (var region in _ordered)
        {
            if (region.View.RegionId == regionId)
            {
                region.Supersede(configuration);
            }
        }
    }

    public void OnNodeGone(LostNode lost, long? configuration)
    {
        ForgetLast();
        foreach (var region in _ordered)
        {
            region.OnNodeGone(lost, configuration);
        }
    }

    public void OnSnapshot()
    {
        foreach (var region in _ordered)
        {
            region.OnSnapshot();
        }
    }

    public void OnNodesCame(long configuration)
    {
        ForgetLast();
        foreach (var region in _ordered)
        {
            region.OnNodesCame(configuration);
        }
    }

    /// <summary>The sender of a stream is gone: from now on the stream is given up as soon as it is settled.</summary>
    public void OnSenderGone()
    {
        if (!Later.End.IsPending)
        {
            Context.Environment.Schedule(Later.End, Context.Options.ClosingPause / 2);
        }
    }

    /// <summary>
    /// Whether packets of a sender may still come that were sent before those that are here. They may come in a stream that has ended, or
    /// in a view older than the sender's newest stream, of which other members may still report packets that this member does not know of.
    /// </summary>
    public bool IsAnyMissing(NodeKey sender)
    {
        long newest = 0;
        foreach (var region in _ordered)
        {
            foreach (var stream in region.Streams)
            {
                if (stream.Sender == sender && stream.IsReliable)
                {
                    newest = Math.Max(newest, region.View.Configuration);
                    if (stream.IsSenderGone && stream.Contiguous < stream.Highest)
                    {
                        return true;
                    }
                }
            }
        }

        foreach (var region in _ordered)
        {
            if (region.SupersededAt != 0 && region.View.Configuration < newest && region.MayHearMoreOf(sender))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>
    /// Whether the sender's streams in older views hold packets that are not parsed yet. If so, the loss is reported above again when they
    /// are parsed.
    /// </summary>
    public bool AwaitReadBefore(ConsumedStream stream)
    {
        bool isAnyUnread = false;
        foreach (var region in _ordered)
        {
            if (region.View.Configuration >= stream.View.Configuration)
            {
                continue;
            }

            foreach (var older in region.Streams)
            {
                isAnyUnread |= older.Sender == stream.Sender && older.Class == stream.Class && older.AwaitRead();
            }
        }

        return isAnyUnread;
    }

    /// <summary>Whether all beginnings of topics are known that came in the sender's streams in older views.</summary>
    public bool KnowsOlderBeginnings(ConsumedStream stream)
    {
        if (!Context.Shortage.IsAnyWaiting)
        {
            return true;
        }

        foreach (var region in _ordered)
        {
            if (region.View.Configuration >= stream.View.Configuration)
            {
                continue;
            }

            foreach (var older in region.Streams)
            {
                if (older.HidesBeginning && older.Sender == stream.Sender)
                {
                    return false;
                }
            }
        }

        return true;
    }

    /// <summary>
    /// Whether an older view than that of the stream may still bring messages of its sender: one that is over and not closed, or in which
    /// something of the sender is missing or unread.
    /// </summary>
    public bool MayBringMoreBefore(ConsumedStream stream)
    {
        foreach (var region in _ordered)
        {
            if (region.View.Configuration < stream.View.Configuration
                && (region.SupersededAt != 0 || region.Find(stream.ReliableKey) is { IsDrained: false }))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>
    /// Closes the views that were superseded up to this configuration and are not named as open, except those that still have packets
    /// wanted here.
    /// </summary>
    public void CloseSettled(long settled, ImmutableArray<OpenView> open)
    {
        _settled = settled;
        _open = open;
        _isAnyLeft = false;
        ForgetLast();
        int before = _ordered.Count;
        for (int i = 0; i < _ordered.Count; i++)
        {
            var region = _ordered[i];
            if (!IsSettled(region))
            {
                continue;
            }

            if (!region.MayClose)
            {
                region.GiveUpIfAlone();
                _isAnyLeft = true;
                continue;
            }

            _ordered.RemoveAt(i--);
            _regions!.Remove((region.View.RegionId, region.View.Number));
            (_closed ??= new ClosedViews(Context.Environment)).Add(region.View.RegionId, region.View.Number);
            region.Close();
            observer.OnViewClosed(region.View);
        }

        if (_isAnyLeft)
        {
            Context.Environment.Schedule(Later.Retry, CloseRetry);
        }

        if (_ordered.Count < before)
        {
            observer.OnViewsClosed();
        }

        observer.OnViewsChecked();
    }

    /// <summary>Whether a view that is open here has a stream of this sender.</summary>
    public bool HasStreamOf(NodeKey sender)
    {
        foreach (var region in _ordered)
        {
            foreach (var stream in region.Streams)
            {
                if (stream.Sender == sender)
                {
                    return true;
                }
            }
        }

        return false;
    }

    public void Close()
    {
        ForgetLast();
        foreach (var region in _ordered)
        {
            region.Close();
        }

        _ordered.Clear();
        _regions?.Clear();
        Context.Environment.CancelIfMade(_closing?.Retry);
        Context.Environment.CancelIfMade(_closing?.End);
        _closed?.Close();
    }

    // A superseded view ends as a whole.
    private void EndStreams()
    {
        ForgetLast();
        bool isAnyLeft = false;
        bool isAnyEnded = false;
        foreach (var region in _ordered)
        {
            if (region.SupersededAt == 0)
            {
                isAnyLeft |= region.EndSettled(sender => MayOlderBringMore(region, sender), out bool isEnded);
                isAnyEnded |= isEnded;
            }
        }

        if (isAnyLeft)
        {
            OnSenderGone();
        }

        if (isAnyEnded)
        {
            observer.OnStreamsEnded();
        }
    }

    private bool MayOlderBringMore(RegionReceiver region, NodeKey sender)
    {
        foreach (var older in _ordered)
        {
            if (older.View.Configuration < region.View.Configuration && older.SupersededAt != 0
                && (older.FindReliable(sender) is not null || older.MayHearMoreOf(sender)))
            {
                return true;
            }
        }

        return false;
    }

    private bool IsSettled(RegionReceiver region) => region.SupersededAt != 0 && region.SupersededAt <= _settled
        && !_open.Contains(new OpenView(region.View.RegionId, region.View.Number));

    private static bool IsSupersededBy(RegionReceiver region, long configuration) =>
        region.SupersededAt != 0 && region.SupersededAt <= configuration;

    private NodeContext Context => parts.Node;

    private Closing Later => _closing ??= new Closing(new Alarm(OnBatchEnd), new Alarm(EndStreams));

    private void ForgetLast() => (LastRegion, LastStream) = (null, null);

    // Retry: what is settled cannot be closed yet. End: pending while there are streams of senders that are gone.
    private sealed record Closing(Alarm Retry, Alarm End);
}
