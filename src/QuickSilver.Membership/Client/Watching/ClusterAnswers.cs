using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Snapshots;

namespace QuickSilver.Membership.Client.Watching;

// Assembles a service's answer about a cluster: a header with the number of parts, and then the parts, one by one. The methods return null,
// or what is wrong with the message. The callback comes before the reader is notified, because the reader may ask again.
internal sealed class ClusterAnswers(IClusterSnapshotReader reader, Action onWhole)
{
    /// <summary>The most nodes in one answer.</summary>
    public const int MostNodes = 65_536;

    // The answer that is coming; null while there is none.
    private ClusterSnapshotMessage? _header;
    private readonly List<NodeReport> _nodes = [];
    // The same of topics.
    private TopicListMessage? _list;
    private readonly List<ListedTopicMessage> _topics = [];

    public string? Begin(ClusterSnapshotMessage header)
    {
        if (_header is not null || header.Reported > MostNodes)
        {
            return _header is null ? $"it reports {header.Reported} nodes; the limit is {MostNodes}" : "an answer begins within another";
        }

        _header = header;
        CompleteIfWhole();
        return null;
    }

    public string? Add(MemberSnapshotMessage node)
    {
        if (_header is null)
        {
            return "it reports a node outside of an answer";
        }

        NodeSnapshot? signs = null;
        string? fault = null;
        if (node.Outcome == SnapshotOutcome.Reported
            && !ControlFrame.TryRead<int, NodeSnapshot>(node.Signs, 0, static (bytes, _) => NodeSnapshot.Read(bytes), out signs, out fault))
        {
            fault = $"invalid vital signs: {fault}";
        }

        _nodes.Add(new NodeReport(node, signs, fault));
        CompleteIfWhole();
        return null;
    }

    public string? Begin(TopicListMessage list)
    {
        if (_list is not null || list.Listed > TopicListMessage.MostTopics)
        {
            return _list is null
                ? $"it reports {list.Listed} topics; the limit is {TopicListMessage.MostTopics}"
                : "a list of topics begins within another";
        }

        _list = list;
        CompleteIfWhole();
        return null;
    }

    public string? Add(ListedTopicMessage topic)
    {
        if (_list is null)
        {
            return "it reports a topic outside of a list";
        }

        _topics.Add(topic);
        CompleteIfWhole();
        return null;
    }

    /// <summary>Forgets what has come of an answer.</summary>
    public void Clear()
    {
        _header = null;
        _nodes.Clear();
        _list = null;
        _topics.Clear();
    }

    private void CompleteIfWhole()
    {
        if (_list is { } list && _topics.Count == list.Listed)
        {
            var topics = new ClusterTopics(list, [.. _topics]);
            _list = null;
            _topics.Clear();
            onWhole();
            reader.OnTopics(topics);
        }

        if (_header is { } header && _nodes.Count == header.Reported)
        {
            var answer = new ClusterSnapshot(header, [.. _nodes]);
            _header = null;
            _nodes.Clear();
            onWhole();
            reader.OnAnswer(answer);
        }
    }
}
