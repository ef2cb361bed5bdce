using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Regions;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Service;

// Writes and sends each member its side of a configuration: a delta, or a snapshot for one who is new or lost its place.
// Everyone gets every number, even with nothing in it, so that everyone can confirm it.
internal sealed class ConfigurationPublisher(RegionMap map, MembershipCounters counters)
{
    private readonly ProtoWriter _frames = new();

    public void PublishDelta(Member member, long number, long previous, List<NodeInfo> joined, List<NodeKey> removed)
    {
        var (regions, topics) = map.NewsOf(member.Key);
        Write(new ConfigurationHeader(number, previous, IsSnapshot: false, member.LastRequest), joined, removed, regions, topics);
        Send(member, number, previous);
    }

    /// <summary>The first configuration of a new member: what is news to it is all there is.</summary>
    public void PublishFirst(Member member, long number, List<Member> members)
    {
        var (regions, topics) = map.NewsOf(member.Key);
        WriteSnapshot(member, number, members, regions, topics);
        Send(member, number, ConfigurationBacklog.Anything);
    }

    /// <summary>The configuration that is in force, whole.</summary>
    public void PublishSnapshot(Member member, long number, List<Member> members)
    {
        counters.SnapshotsSent++;
        var (regions, topics) = map.SnapshotOf(member.Key);
        WriteSnapshot(member, number, members, regions, topics);
        member.Backlog.Clear();
        Send(member, number, ConfigurationBacklog.Anything);
    }

    /// <summary>Sends a member that came back what it missed since <paramref name="known"/>.</summary>
    public void Replay(Member member, long known, long current, List<Member> members)
    {
        if (member.IsNew || known == current)
        {
            return;
        }

        if (member.Backlog.After(known) is not { } steps)
        {
            PublishSnapshot(member, current, members);
            return;
        }

        foreach (var (_, _, frames) in steps)
        {
            member.Session?.SendFrames(frames);
        }
    }

    /// <summary>A configuration has been told to all: what its writing took is given back.</summary>
    public void Rest()
    {
        _frames.Rest();
        map.ForgetNews();
    }

    private void WriteSnapshot(Member member, long number, List<Member> members, List<RegionView> regions, List<TopicView> topics)
    {
        // Members who are not in a configuration yet are in nobody's snapshot.
        List<NodeInfo> known = [.. members.Where(other => !other.IsNew).Select(other => other.Info)];
        Write(new ConfigurationHeader(number, 0, IsSnapshot: true, member.LastRequest), known, [], regions, topics);
    }

    private void Write(
        in ConfigurationHeader header,
        List<NodeInfo> joined,
        List<NodeKey> removed,
        List<RegionView> regions,
        List<TopicView> topics)
    {
        _frames.Clear();
        var writer = new ConfigurationWriter(_frames);
        writer.Begin(header);
        joined.ForEach(writer.Add);
        removed.ForEach(writer.Add);
        regions.ForEach(writer.Add);
        topics.ForEach(writer.Add);
        writer.End();
    }

    private void Send(Member member, long number, long previous)
    {
        counters.ConfigurationBytes += _frames.Length;
        member.Backlog.Add(number, previous, _frames.Written);
        member.Session?.SendFrames(_frames.Written);
    }
}
