using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Sending;

namespace QuickSilver.Multicast.Ordering.Routes;

// The streams into the regions of a topic's view.
//
//   no view  -> Apply -> a view; Find looks for the streams into its regions now, and whenever the views of regions change
//   a view   -> Unroute -> no view
//
// Invariant: messages go into all streams or into none. The topic is routed only while there is a stream into each region of its view.
internal struct TopicRoutes()
{
    private TopicView? _view;

    public RegionSender[] Streams { get; private set; } = [];

    /// <summary>Whether the membership service has sent the topic's view.</summary>
    public readonly bool HasView => _view is not null;

    /// <summary>Whether the topic's newest view has no subscriber.</summary>
    public readonly bool IsUnheard => _view is { Regions.Length: 0 };

    /// <summary>The address to which messages are sent once for all regions; null if there is none.</summary>
    public readonly TopicAddress? Address => _view?.Address;

    /// <summary>The first region of the topic's view whose own view is not known here; null if there is none.</summary>
    public readonly ulong? UnknownRegion
    {
        get
        {
            foreach (ulong region in _view?.Regions ?? [])
            {
                if (!Array.Exists(Streams, route => route.View.RegionId == region))
                {
                    return region;
                }
            }

            return null;
        }
    }

    /// <summary>The largest payload for which packet memory can ever have room.</summary>
    public readonly long MostBytes => Streams.Length > 1 ? Streams[0].Packer.MostPayload(Streams.Length) : long.MaxValue;

    /// <summary>About how many bytes of messages fit into the run that is packed in each stream.</summary>
    public readonly int RoomBytes
    {
        get
        {
            int room = int.MaxValue;
            foreach (var route in Streams)
            {
                room = Math.Min(room, route.RoomBytes);
            }

            return room;
        }
    }

    /// <summary>Whether all members hold all that was sent.</summary>
    public readonly bool IsSettled
    {
        get
        {
            foreach (var route in Streams)
            {
                if (!route.IsSettled)
                {
                    return false;
                }
            }

            return true;
        }
    }

    /// <summary>The first stream that is current and whose run is full; null if there is none.</summary>
    public readonly RegionSender? FirstFull
    {
        get
        {
            foreach (var route in Streams)
            {
                if (route is { IsFull: true, SupersededAt: 0 })
                {
                    return route;
                }
            }

            return null;
        }
    }

    /// <summary>What keeps the first stream that waits from sending.</summary>
    public readonly StreamLimit Limit
    {
        get
        {
            foreach (var route in Streams)
            {
                if (route.Signs.Limit != StreamLimit.Idle)
                {
                    return route.Signs.Limit;
                }
            }

            return StreamLimit.Idle;
        }
    }

    public void Apply(TopicView view) => _view = view;

    /// <summary>Removes the view. The streams are used until they are looked for again.</summary>
    public void Unroute() => _view = null;

    /// <summary>
    /// Finds the streams after the views have changed. Returns whether there is a view, and this node knows the members of all its regions.
    /// </summary>
    public bool Find(ISendingNode node, StreamClass streamClass)
    {
        if (_view is null)
        {
            Streams = [];
            return false;
        }

        if (_view.Regions.Length == 1)
        {
            Streams = node.SenderFor(_view.Regions[0], streamClass)?.Alone ?? [];
        }
        else
        {
            var routes = new List<RegionSender>(_view.Regions.Length);
            foreach (ulong region in _view.Regions)
            {
                if (node.SenderFor(region, streamClass) is { } sender)
                {
                    routes.Add(sender);
                }
            }

            Streams = [.. routes];
        }

        return Streams.Length == _view.Regions.Length;
    }

    /// <summary>Whether the topic's first message, which carries the start table, is packed in all streams.</summary>
    public readonly bool HaveStarted(ulong topicId)
    {
        foreach (var route in Streams)
        {
            if (!route.HasStarted(topicId))
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>The number of packets that a message of so many bytes closes at most, in any of the streams.</summary>
    public readonly int MostPackets(int payloadBytes)
    {
        int packets = 0;
        foreach (var route in Streams)
        {
            packets = Math.Max(packets, route.Packer.MostPackets(payloadBytes));
        }

        return packets;
    }
}
