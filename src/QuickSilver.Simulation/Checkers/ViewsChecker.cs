using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Checkers;

// I7: one sequence of views. An incarnation of a node never returns to an older configuration or region view, and applies none twice. Two
// nodes that get the same view of a region get the same members. Self-inclusion: a node that learns that it subscribes to a
// topic is a member of a region of that topic.
internal sealed class ViewsChecker : HistoryChecker
{
    private readonly Dictionary<NodeKey, long> _configurations = [];
    private readonly Dictionary<(NodeKey Life, ulong Region), uint> _regions = [];
    private readonly HashSet<(NodeKey Life, ulong Region)> _memberOf = [];
    private readonly Dictionary<(ulong Region, uint Number), (ulong MembersHash, NodeKey Life)> _members = [];

    public override string Invariant => "I7";

    public override void On(in Configured configured)
    {
        if (_configurations.TryGetValue(configured.Life, out long last) && configured.Number <= last)
        {
            Violate(configured.At, $"Node {configured.Node} ({configured.Life}) went from configuration {last} to {configured.Number}.");
        }

        _configurations[configured.Life] = Math.Max(configured.Number, last);
    }

    public override void On(in RegionSeen seen)
    {
        // A snapshot repeats the current views: the same number is not a step back.
        if (_regions.TryGetValue((seen.Life, seen.RegionId), out uint last) && seen.Number < last)
        {
            Violate(seen.At, $"Node {seen.Node} ({seen.Life}) went from view {last} of region {seen.RegionId:x} to {seen.Number}.");
        }

        if (seen.Number == RegionView.EndOfAdopted)
        {
            // Another service may number on from the view that ended here, and the node may come over to that one.
            _regions.Remove((seen.Life, seen.RegionId));
        }
        else
        {
            _regions[(seen.Life, seen.RegionId)] = Math.Max(seen.Number, last);
        }

        if (seen.View.Members.Contains(seen.Life))
        {
            _memberOf.Add((seen.Life, seen.RegionId));
        }
        else
        {
            _memberOf.Remove((seen.Life, seen.RegionId));
        }

        if (!_members.TryAdd((seen.RegionId, seen.Number), (seen.MembersHash, seen.Life))
            && _members[(seen.RegionId, seen.Number)] is var known && known.MembersHash != seen.MembersHash)
        {
            string view = $"view {seen.Number} of region {seen.RegionId:x}";
            Violate(seen.At, $"Node {seen.Node} ({seen.Life}) got other members in {view} than {known.Life}.");
        }
    }

    public override void On(in TopicSeen seen)
    {
        if (!seen.View.Subscribed)
        {
            return;
        }

        foreach (ulong region in seen.View.Regions)
        {
            if (_memberOf.Contains((seen.Life, region)))
            {
                return;
            }
        }

        string topic = $"topic {seen.View.TopicId:x16} in configuration {seen.View.Configuration}";
        Violate(seen.At, $"Node {seen.Node} ({seen.Life}) subscribes to {topic}, but is not a member of any of its regions.");
    }
}
