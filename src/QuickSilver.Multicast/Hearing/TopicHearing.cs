using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Hearing;

// Notices that this node does not hear the address of a topic, although it is a member of a region of the topic: a system or a switch may
// take fewer groups than the cluster uses. Each packet would then cost a repair.
//
// Intuition: a packet that was made of a shared one has a mark, also when it comes as a repair. A member that gets only repairs of a
// sender's packets in a topic, and none over the topic's address, does not hear it. Then it notifies the sender, which sends the topic to
// this region by itself for a while. Loss alone does not cause this, because any packet over the address ends the count, and any that was
// sent to this region by itself.
internal sealed class TopicHearing(NodeContext context)
{
    // The limit of the table. Beyond it, topics are counted when others were reported or have expired.
    public const int MostCounts = 1024;

    private const int MissedUntilReported = 16;
    // Of a slow topic, fewer packets over a longer time.
    private const int MissedUntilReportedOfSlow = 3;
    // Packets that are further apart are not counted together.
    private static readonly TimeSpan LongestTime = TimeSpan.FromMinutes(10);
    private static readonly TimeSpan LeastTime = TimeSpan.FromMilliseconds(250);
    private static readonly TimeSpan LeastTimeOfSlow = TimeSpan.FromSeconds(2);

    private readonly Dictionary<(NodeKey Sender, ulong Region, ulong Topic), (int Missed, TimeSpan Since)> _counts = [];
    private TimeSpan _clearedAt = TimeSpan.MinValue / 2;

    /// <summary>
    /// A packet came over the address of its topic, or was sent to this region by itself: then what is missing was not sent there.
    /// </summary>
    public void OnHeard(ulong region, ReadOnlySpan<byte> packet)
    {
        if (_counts.Count > 0 && TryReadTopic(packet, out ulong topic))
        {
            _counts.Remove((SenderOf(packet), region, topic));
        }
    }

    /// <summary>A packet that was sent to the address of its topic came as a repair.</summary>
    public void OnMissed(RegionView view, ReadOnlySpan<byte> packet)
    {
        if (!TryReadTopic(packet, out ulong topic))
        {
            return;
        }

        var now = context.Environment.Now;
        var key = (SenderOf(packet), view.RegionId, topic);
        bool isKnown = _counts.TryGetValue(key, out var count);
        if (!isKnown && _counts.Count >= MostCounts && !TryMakeRoom(now))
        {
            return;
        }

        if (!isKnown || now - count.Since >= LongestTime)
        {
            count = (0, now);
        }

        count.Missed++;
        var time = now - count.Since;
        bool isReported = (count.Missed >= MissedUntilReported && time >= LeastTime)
            || (count.Missed >= MissedUntilReportedOfSlow && time >= LeastTimeOfSlow);
        if (!isReported)
        {
            _counts[key] = count;
            return;
        }

        _counts.Remove(key);
        Report(view, key.Item1, topic);
    }

    // Not for each packet, because it reads the whole table.
    private bool TryMakeRoom(TimeSpan now)
    {
        if (now - _clearedAt < LeastTime)
        {
            return false;
        }

        _clearedAt = now;
        foreach (var (key, count) in _counts)
        {
            if (now - count.Since >= LongestTime)
            {
                _counts.Remove(key);
            }
        }

        return _counts.Count < MostCounts;
    }

    private void Report(RegionView view, NodeKey sender, ulong topic)
    {
        if (context.Directory.Find(sender) is { } address)
        {
            Span<byte> packet = stackalloc byte[HearingNotice.MostBytes];
            new HearingNotice(sender, HearingWord.MissesTopic, topic).WriteWithTopic(packet, context.Template(view));
            context.SendControl(packet, address);
        }
    }

    private static NodeKey SenderOf(ReadOnlySpan<byte> packet)
    {
        var header = new PacketHeader(packet);
        return new NodeKey(header.Sender, header.Incarnation);
    }

    // The topic of the packet's first message. All messages of a shared packet are of one topic.
    private static bool TryReadTopic(ReadOnlySpan<byte> packet, out ulong topic)
    {
        var messages = new PacketParser(packet);
        bool isAny = messages.MoveNext();
        topic = messages.Topic;
        return isAny;
    }
}
