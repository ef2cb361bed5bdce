using QuickSilver.Core.Sealing;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Regions;
using QuickSilver.Membership.Service.Quotas;
using QuickSilver.Membership.Service.Takeover;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Service.Configurations;

// Writes and sends each member its part of a configuration: a delta, or a snapshot for a member that is new or has missed configurations.
// Every member gets every number, even with an empty part, so that it can confirm it. Parts that several members get alike are written
// once: n members that join together each get all n, which is n² to send, but not to write or to keep.
internal sealed class ConfigurationPublisher(RegionMap map, EndedLives ended, ServiceCounters counters)
{
    private readonly ControlBuffer _buffer = new();
    private readonly NewsFrames _news = new();
    // Of the configuration that is being sent: the nodes that joined and left, for members that know the one before and for new members.
    private NodeFrames? _changed;
    private NodeFrames? _all;

    /// <summary>Null: packets are not sealed.</summary>
    public RegionKeys? Keys { get; init; }

    private sealed record NodeFrames(SharedFrames Frames, int NextPart);

    public void PublishDelta(Member member, long number, long previous, List<NodeInfo> joined, List<NodeKey> removed)
    {
        var header = new ConfigurationHeader(number, previous, IsSnapshot: false, member.LastRequest, NewClusterKey(number));
        _changed ??= WriteNodes(header, joined, removed, ended.News);
        Send(member, header, _changed, map.NewsOf(member.Key));
    }

    /// <summary>The first configuration of a new member: everything is news to it.</summary>
    public void PublishFirst(Member member, long number, MemberTable members)
    {
        var header = new ConfigurationHeader(number, 0, IsSnapshot: true, member.LastRequest, Keys?.Cluster);
        _all ??= WriteNodes(header, Known(members), [], ended.Announced);
        Send(member, header, _all, map.NewsOf(member.Key));
    }

    /// <summary>The configuration that is in force, whole.</summary>
    public void PublishSnapshot(Member member, long number, MemberTable members)
    {
        counters.SnapshotsSent++;
        var header = new ConfigurationHeader(number, 0, IsSnapshot: true, member.LastRequest, Keys?.Cluster);
        member.Backlog.Clear();
        Send(member, header, WriteNodes(header, Known(members), [], ended.Announced), map.SnapshotOf(member.Key));
        _news.Clear();
        _buffer.Rest();
    }

    /// <summary>Sends a member that came back what it missed since <paramref name="known"/>.</summary>
    public void Replay(Member member, long known, long current, MemberTable members)
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
            frames.SendTo(member.Session);
        }
    }

    /// <summary>A configuration has been sent to all. The memory for writing it is released.</summary>
    public void Rest()
    {
        _changed = null;
        _all = null;
        _news.Clear();
        _buffer.Rest();
        map.ForgetNews();
    }

    private ClusterKey? NewClusterKey(long number) => Keys?.Cluster is { } key && key.Configuration == number ? key : null;

    // Members that are not in a configuration yet are in no snapshot.
    private static List<NodeInfo> Known(MemberTable members) => [.. members.All.Where(other => !other.IsNew).Select(other => other.Info)];

    private void Send(Member member, in ConfigurationHeader header, NodeFrames nodes, in RegionNews part)
    {
        var (news, nextPart) = WriteNews(header, nodes.NextPart, part);
        var last = Begin(header, nextPart);
        last.End(isLast: true);
        var frames = new ConfigurationFrames(nodes.Frames, news, Take());
        counters.ConfigurationBytes += frames.Length;
        member.Backlog.Add(header.Number, header.IsSnapshot ? ConfigurationBacklog.Anything : header.Previous, frames);
        frames.SendTo(member.Session);
    }

    private NodeFrames WriteNodes(
        in ConfigurationHeader header, List<NodeInfo> joined, List<NodeKey> removed, IReadOnlyList<EndedLife> lives)
    {
        if (joined.Count == 0 && removed.Count == 0 && lives.Count == 0)
        {
            return new NodeFrames(SharedFrames.None, 0);
        }

        var writer = Begin(header, firstPart: 0);
        joined.ForEach(writer.Add);
        removed.ForEach(writer.Add);
        foreach (var life in lives)
        {
            writer.Add(life);
        }

        writer.End(isLast: false);
        return new NodeFrames(Take(), writer.NextPart);
    }

    private (SharedFrames Frames, int NextPart) WriteNews(in ConfigurationHeader header, int firstPart, in RegionNews part)
    {
        if (part.IsEmpty)
        {
            return (SharedFrames.None, firstPart);
        }

        var news = new NewsFrames.News(firstPart, header.IsSnapshot, part);
        if (!_news.TryFind(news, out var known))
        {
            var writer = Begin(header, firstPart);
            part.Regions.ForEach(writer.Add);
            part.Topics.ForEach(writer.Add);
            part.OutOfSight.ForEach(writer.AddOutOfSight);
            writer.End(isLast: false);
            known = (Take(), writer.NextPart);
            _news.Keep(news, known.Frames, known.NextPart);
        }

        return known;
    }

    private SharedFrames Take()
    {
        counters.ConfigurationBytesWritten += _buffer.Length;
        return new SharedFrames(_buffer.Written.ToArray());
    }

    private ConfigurationWriter Begin(in ConfigurationHeader header, int firstPart)
    {
        _buffer.Clear();
        var writer = new ConfigurationWriter(_buffer);
        writer.Begin(header, firstPart);
        return writer;
    }
}
