using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Multicast.Sending;

// The outbound streams of this node: for the current view of each region one per stream class in use, and those of superseded views until
// they are settled.
internal sealed class SentStreams
{
    private readonly Dictionary<(ulong Region, StreamClass Class), RegionSender> _current = [];
    private readonly List<RegionSender> _retired = [];

    public Dictionary<(ulong Region, StreamClass Class), RegionSender>.ValueCollection Current => _current.Values;

    /// <summary>The feeds that give to several streams at once.</summary>
    public List<IPatientFeed> Shared => field ??= [];

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

    /// <summary>Whether there is a stream into the view of which the node is a live member.</summary>
    public bool IsInto(ulong region, uint view, NodeKey member)
    {
        foreach (var streamClass in StreamClass.All)
        {
            if (Find(region, view, streamClass) is { } stream && stream.Live.Contains(member))
            {
                return true;
            }
        }

        return false;
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

        foreach (var feed in Shared)
        {
            feed.Rest();
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

    public void Close()
    {
        foreach (var stream in All())
        {
            stream.Close("the node was closed");
        }

        foreach (var feed in Shared)
        {
            feed.Rest();
        }
    }
}
