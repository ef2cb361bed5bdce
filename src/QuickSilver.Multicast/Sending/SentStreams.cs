using QuickSilver.Core.Environment;
using QuickSilver.Core.Requests;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Multicast.Sending;

// The outbound streams of this node: for the current view of each region one per stream class in use, and those of superseded views until
// they are settled. A stream with newly packed messages is flushed when no more messages wait; one posted request flushes all such
// streams.
internal sealed class SentStreams
{
    private readonly INodeEnvironment _environment;
    private readonly MulticastCounters _counters;
    private readonly Dictionary<(ulong Region, StreamClass Class), RegionSender> _current = [];
    private readonly List<RegionSender> _retired = [];
    // The streams with messages packed since the last flush. The others are not examined: a node may have thousands of resting streams.
    private readonly List<RegionSender> _unflushed = [];
    private readonly Request _flush;
    private bool _isFlushPosted;

    public SentStreams(INodeEnvironment environment, MulticastCounters counters)
    {
        _environment = environment;
        _counters = counters;
        _flush = new ActionRequest(OnFlush);
    }

    public Dictionary<(ulong Region, StreamClass Class), RegionSender>.ValueCollection Current => _current.Values;

    /// <summary>The streams of superseded views.</summary>
    public List<RegionSender> Retired => _retired;

    public int Count => _current.Count + _retired.Count;

    /// <summary>All streams, those of superseded views first.</summary>
    public List<RegionSender> All()
    {
        var all = new List<RegionSender>(Count);
        all.AddRange(_retired);
        all.AddRange(_current.Values);
        return all;
    }

    public RegionSender? FindCurrent(ulong region, StreamClass streamClass) => _current.GetValueOrDefault((region, streamClass));

    public RegionSender? Find(ulong region, uint view, StreamClass streamClass)
    {
        if (_current.TryGetValue((region, streamClass), out var current) && current.View.Number == view)
        {
            return current;
        }

        foreach (var old in _retired)
        {
            if (old.View.RegionId == region && old.View.Number == view && old.Class == streamClass)
            {
                return old;
            }
        }

        return null;
    }

    public void Add(RegionSender stream) => _current.Add((stream.View.RegionId, stream.Class), stream);

    /// <summary>Whether the topic has begun in all views into which this node still sends.</summary>
    public bool HasBegunEverywhere(ulong topicId)
    {
        foreach (var stream in _current.Values)
        {
            if (!stream.HasBegun(topicId))
            {
                return false;
            }
        }

        return _retired.TrueForAll(stream => stream.HasBegun(topicId));
    }

    /// <summary>Called when packet memory is short: settled streams return their blocks.</summary>
    public void RestSettled()
    {
        foreach (var stream in _current.Values)
        {
            stream.RestIfSettled(needsBlock: true);
        }
    }

    public void Supersede(ulong region, long configuration)
    {
        foreach (var streamClass in StreamClass.All)
        {
            if (_current.Remove((region, streamClass), out var stream))
            {
                _retired.Add(stream);
                stream.Supersede(configuration);
            }
        }
    }

    public void OnNodeGone(NodeKey node)
    {
        foreach (var stream in All())
        {
            if (!stream.OnMemberGone(node))
            {
                stream.Abandon();
            }
        }
    }

    /// <summary>Closes the streams of superseded views that are settled.</summary>
    public void CloseSettled()
    {
        for (int i = 0; i < _retired.Count; i++)
        {
            if (_retired[i].IsSettled)
            {
                _retired[i].Close("the view is settled");
                _retired.RemoveAt(i--);
            }
        }
    }

    public void FlushSoon(RegionSender stream)
    {
        if (!stream.IsFlushNoted)
        {
            stream.IsFlushNoted = true;
            _unflushed.Add(stream);
        }
    }

    /// <summary>A message is in all its streams, which are flushed when no more of them wait.</summary>
    public void OnMessageSent()
    {
        _counters.MessagesSent++;
        PostFlush();
    }

    public void PostFlush()
    {
        if (!_isFlushPosted)
        {
            _isFlushPosted = true;
            _environment.Post(_flush);
        }
    }

    // A request that is posted stays posted: it may be posted again only after it ran.
    public void FlushAll()
    {
        // Iterates by index, because a caller that is told that a message was sent may send the next.
        for (int i = 0; i < _unflushed.Count; i++)
        {
            var stream = _unflushed[i];
            stream.IsFlushNoted = false;
            stream.Flush();
        }

        _unflushed.Clear();
    }

    public void Close()
    {
        foreach (var stream in All())
        {
            stream.Close("the node was closed");
        }
    }

    private void OnFlush()
    {
        _isFlushPosted = false;
        FlushAll();
    }
}
