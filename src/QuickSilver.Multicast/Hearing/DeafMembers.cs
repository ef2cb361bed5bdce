using QuickSilver.Core.Transport;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Hearing;

// The sender's side of hearing: which members of which regions have reported that they do not receive this node's multicast. Those members
// are called deaf, and get copies by unicast.
//
// Invariant: _regionsOf counts the regions in which each member is deaf, and has no entry with the count 0.
//
// A member that is deaf in one region probably is deaf in others. So when a member is new to a region, or a region is new here, its state
// in the other regions is assumed, and the member is notified; if the assumption is wrong, the member reports it. Opening more topics on a
// network without multicast then costs no detection time for each of them.
internal sealed class DeafMembers
{
    // Stand for the tables while no member is deaf, which is the rule. All nodes of a process share them, and none writes to them.
    private static readonly SortedDictionary<ulong, DeafRegion> NoRegions = [];
    private static readonly SortedDictionary<NodeKey, int> NoMembers = [];

    private readonly NodeContext _context;
    private readonly IDatagramPort _groups;
    private readonly Func<ulong, RegionView?> _viewOf;
    private SortedDictionary<ulong, DeafRegion> _regions = NoRegions;
    private SortedDictionary<NodeKey, int> _regionsOf = NoMembers;
    private long _probe;

    /// <param name="context">The context of the node.</param>
    /// <param name="groups">The port that sends to groups.</param>
    /// <param name="viewOf">Returns the newest view of a region that this node knows.</param>
    public DeafMembers(NodeContext context, IDatagramPort groups, Func<ulong, RegionView?> viewOf)
    {
        _context = context;
        _groups = groups;
        _viewOf = viewOf;
        Report = new HearingReport(context) { Deaf = this };
    }

    /// <summary>Reports the deaf members, and the senders that this node itself does not hear.</summary>
    public HearingReport Report { get; }

    /// <summary>Null: all views use their groups, if any does.</summary>
    public IGroupUse? Use { get; init; }

    /// <summary>Changes whenever the targets of any region may have changed.</summary>
    public int Version { get; private set; }

    public bool IsEmpty => _regionsOf.Count == 0;

    /// <summary>The number of members that do not hear this node in some region, and the first of them.</summary>
    public (int Count, NodeKey Member) Deaf()
    {
        foreach (var (member, _) in _regionsOf)
        {
            return (_regionsOf.Count, member);
        }

        return default;
    }

    /// <summary>Whether the member gets copies.</summary>
    public bool IsServed(ulong region, NodeKey member) =>
        _context.Options.CopiesToDeaf && _regions.TryGetValue(region, out var deaf) && deaf.Members.ContainsKey(member);

    /// <summary>The addresses of the members of the view that get copies, in the order of the view.</summary>
    public DatagramAddress[] Targets(RegionView view)
    {
        if (IsEmpty || !_context.Options.CopiesToDeaf)
        {
            return [];
        }

        var region = Current(view);
        var targets = new List<DatagramAddress>(region.Members.Count);
        foreach (var member in view.Members)
        {
            if (region.Members.ContainsKey(member) && _context.Directory.Find(member) is { } address)
            {
                targets.Add(address);
            }
        }

        return [.. targets];
    }

    /// <summary>Whether members of the view get copies.</summary>
    public bool HasAnyIn(RegionView view) =>
        _context.Options.CopiesToDeaf && !IsEmpty && Current(view).Members.Count > 0;

    /// <summary>Notes that data was sent into the region, with or without its group.</summary>
    public void NoteSent(ulong region, bool overGroup)
    {
        if (_regions.TryGetValue(region, out var deaf))
        {
            deaf.NoteSent(overGroup);
        }
    }

    /// <summary>Whether a member of the view that gets packets by unicast alone is deaf.</summary>
    public bool UsesGroup(RegionView view) => !_context.Options.Unicast && Use?.MayUseGroup(view) != false;

    public bool IsMember(ulong region, NodeKey node) => _viewOf(region) is { } view && view.Members.AsSpan().BinarySearch(node) >= 0;

    /// <summary>
    /// Handles a member's report on its hearing. Returns true when the member gets copies from now on and did not before.
    /// </summary>
    public bool OnWord(ulong region, NodeKey member, HearingWord word)
    {
        if (_viewOf(region) is not { } view)
        {
            return false;
        }

        if (!UsesGroup(view))
        {
            Answer(view, member, word == HearingWord.Hears ? HearingWord.Unserved : HearingWord.NoGroups);
            return false;
        }

        switch (word)
        {
            case HearingWord.Asks:
                Region(view).ProbeSoon();
                Answer(view, member, IsServed(view.RegionId, member) ? HearingWord.Served : HearingWord.Unserved);
                return false;
            case HearingWord.Deaf:
                return OnDeaf(view, member);
            case HearingWord.Hears:
                Remove(view.RegionId, member);
                Answer(view, member, HearingWord.Unserved);
                return false;
            default:
                return false;
        }
    }

    /// <summary>Called when the directory or the views have changed.</summary>
    public void OnConfiguration()
    {
        Version++;
        if (_regions.Count == 0)
        {
            return;
        }

        foreach (var (id, region) in _regions.ToArray())
        {
            if (_viewOf(id) is null)
            {
                foreach (var member in region.Members.Keys.ToArray())
                {
                    Remove(id, member);
                }

                region.Close();
                _regions.Remove(id);
            }
        }
    }

    public void OnNodeGone(NodeKey node)
    {
        foreach (ulong region in _regionsOf.ContainsKey(node) ? _regions.Keys.ToArray() : [])
        {
            Remove(region, node);
        }
    }

    public void Close()
    {
        Report.Close();
        foreach (var region in _regions.Values)
        {
            region.Close();
        }
    }

    /// <summary>Sends a word to a member, as a reply or unasked.</summary>
    public void Answer(RegionView view, NodeKey member, HearingWord word)
    {
        if (_context.Directory.Find(member) is { } address)
        {
            Span<byte> packet = stackalloc byte[HearingNotice.Bytes];
            new HearingNotice(_context.Self, word).Write(packet, _context.Template(view), _probe);
            _context.SendControl(packet, address);
        }
    }

    // Probes are numbered across all regions of this node, so a member recognizes an old one.
    private void Probe(DeafRegion region)
    {
        var view = _viewOf(region.View.RegionId) ?? region.View;
        if (view.Group is { } group)
        {
            Span<byte> packet = stackalloc byte[HearingNotice.Bytes];
            new HearingNotice(_context.Self, HearingWord.Probe).Write(packet, _context.Template(view), ++_probe);
            _groups.Send(packet, packet.Length, region.AddressOf(group));
        }
    }

    private bool OnDeaf(RegionView view, NodeKey member)
    {
        bool mayServe = _context.Options.CopiesToDeaf;
        Answer(view, member, mayServe ? HearingWord.Served : HearingWord.Unserved);
        var region = Current(view);
        bool isNew = !region.Members.ContainsKey(member);
        region.Members[member] = _context.Environment.Now;
        if (isNew)
        {
            Add(region, member);
        }

        return isNew && mayServe;
    }

    private DeafRegion Region(RegionView view)
    {
        if (!_regions.TryGetValue(view.RegionId, out var region))
        {
            region = new DeafRegion(_context.Environment, view, Probe, Remind);
            _regions = ReferenceEquals(_regions, NoRegions) ? [] : _regions;
            _regions.Add(view.RegionId, region);
            Presume(region, view, before: null);
        }

        return region;
    }

    // The state of the region, with the assumption applied to members that are new in this view.
    private DeafRegion Current(RegionView view)
    {
        var region = Region(view);
        if (view.Number > region.View.Number)
        {
            var before = region.View;
            region.View = view;
            Presume(region, view, before);
        }

        return region;
    }

    private void Presume(DeafRegion region, RegionView view, RegionView? before)
    {
        foreach (var (member, _) in _regionsOf.ToArray())
        {
            if (view.Members.AsSpan().BinarySearch(member) >= 0 && (before is null || before.Members.AsSpan().BinarySearch(member) < 0)
                && region.Members.TryAdd(member, TimeSpan.MinValue))
            {
                Add(region, member);
            }
        }
    }

    // Notifies members that have not reported for a long time that they get copies, and removes those that have left the region. They are
    // not removed as soon as they leave: packets of the previous view still go to them, and whether they hear is known per region, not per
    // view.
    private void Remind(DeafRegion region)
    {
        var now = _context.Environment.Now;
        var view = _viewOf(region.View.RegionId) ?? region.View;
        foreach (var (member, saidAt) in region.Members.ToArray())
        {
            if (saidAt != TimeSpan.MinValue && now - saidAt <= GroupHearing.RefreshEvery * 3)
            {
                continue;
            }

            if (view.Members.AsSpan().BinarySearch(member) < 0)
            {
                Remove(region.View.RegionId, member);
            }
            else if (_context.Options.CopiesToDeaf && _context.MayCheck())
            {
                Answer(view, member, HearingWord.Served);
            }
        }
    }

    private void Add(DeafRegion region, NodeKey member)
    {
        _regionsOf = ReferenceEquals(_regionsOf, NoMembers) ? [] : _regionsOf;
        _regionsOf[member] = _regionsOf.GetValueOrDefault(member) + 1;
        region.OnAdded();
        Version++;
        Report.OnChange();
    }

    private void Remove(ulong id, NodeKey member)
    {
        if (!_regions.TryGetValue(id, out var region) || !region.Members.Remove(member))
        {
            return;
        }

        if (--_regionsOf[member] == 0)
        {
            _regionsOf.Remove(member);
        }

        region.OnRemoved();
        Version++;
        Report.OnChange();
    }
}
