using QuickSilver.Core.Transport;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Hearing;

// A sender's side: which members of which regions do not hear it over the group, as they say themselves, and so get copies by unicast.
//
// Who is deaf in one region probably is in others: a member that is new to a region, or a region that is new here, begins as what
// the member is elsewhere, and is told so; it says if that is wrong. So a node that opens topics on a network without multicast loses
// no time for each of them.
internal sealed class DeafMembers
{
    private readonly MulticastContext _context;
    private readonly IDatagramPort _groups;
    private readonly Func<ulong, RegionView?> _viewOf;
    private readonly SortedDictionary<ulong, DeafRegion> _regions = [];
    private readonly SortedDictionary<NodeKey, int> _regionsOf = [];
    private long _probe;

    /// <param name="context">The node's.</param>
    /// <param name="groups">The port that sends to groups.</param>
    /// <param name="viewOf">A region's newest view that is known here.</param>
    public DeafMembers(MulticastContext context, IDatagramPort groups, Func<ulong, RegionView?> viewOf)
    {
        _context = context;
        _groups = groups;
        _viewOf = viewOf;
        Report = new HearingReport(context) { Deaf = this };
    }

    /// <summary>Tells of these, and of what this node itself does not hear.</summary>
    public HearingReport Report { get; }

    /// <summary>Changes with whatever changes the targets of any region.</summary>
    public int Version { get; private set; }

    public bool IsEmpty => _regionsOf.Count == 0;

    /// <summary>How many members do not hear this node somewhere, and the first of them.</summary>
    public (int Count, NodeKey Member) Deaf()
    {
        foreach (var (member, _) in _regionsOf)
        {
            return (_regionsOf.Count, member);
        }

        return default;
    }

    /// <summary>Whether it gets copies.</summary>
    public bool IsServed(ulong region, NodeKey member) =>
        _context.Options.CopiesToDeaf && _regions.TryGetValue(region, out var deaf) && deaf.Members.ContainsKey(member);

    /// <summary>The addresses of those members of the view that get copies, in the order of the view.</summary>
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

    /// <summary>Something was sent into the region, over its group too or to those who get copies alone.</summary>
    public void NoteSent(ulong region, bool overGroup)
    {
        if (_regions.TryGetValue(region, out var deaf))
        {
            deaf.NoteSent(overGroup);
        }
    }

    public bool IsMember(ulong region, NodeKey node) => _viewOf(region) is { } view && view.Members.AsSpan().BinarySearch(node) >= 0;

    /// <summary>What a member says of its hearing. True when it gets copies from now on and did not before.</summary>
    public bool OnWord(ulong region, NodeKey member, HearingWord word)
    {
        if (_viewOf(region) is not { } view)
        {
            return false;
        }

        if (_context.Options.Unicast)
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

    /// <summary>The directory or the views have changed.</summary>
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

    /// <summary>A word to a member, whoever began.</summary>
    public void Answer(RegionView view, NodeKey member, HearingWord word)
    {
        if (_context.Directory.Find(member) is { } address)
        {
            Span<byte> packet = stackalloc byte[HearingNotice.Bytes];
            new HearingNotice(_context.Self, word).Write(packet, _context.Template(view), _probe);
            _context.SendControl(packet, address);
        }
    }

    // The region's next probe: its number is this node's own over all regions.
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
            _regions.Add(view.RegionId, region);
            Presume(region, view, before: null);
        }

        return region;
    }

    // The region, with those members who are new to it taken for what they are elsewhere.
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

    // Those who have not said for long that they are deaf are told that they get copies; or forgotten, if they have left the region. Not
    // earlier: what is sent in the view before still goes to them, and what they are is known for the region that they went to.
    private void Remind(DeafRegion region)
    {
        var now = _context.Environment.Now;
        var view = _viewOf(region.View.RegionId) ?? region.View;
        foreach (var (member, saidAt) in region.Members.ToArray())
        {
            if (saidAt != TimeSpan.MinValue && now - saidAt <= Ear.RefreshEvery * 3)
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
