using System.Net;
using QuickSilver.Core.Transport;

namespace QuickSilver.Multicast.Receiving.Ports;

// The ports at which this node receives what is sent to the addresses of topics to which it subscribes.
//
// A port is opened with the configuration that gives the address, and closed when all nodes have confirmed the one that withdraws it: until
// then a sender may use it. If the system refuses a port, the node gets repairs, and notifies the senders that it does not hear the topic.
internal sealed class TopicPorts(ReceivingParts parts, IDatagramReceiver receiver)
{
    private readonly SortedDictionary<ulong, RegionPort> _ports = [];
    private readonly List<(long Configuration, RegionPort Port)> _withdrawn = [];
    // What the kernel dropped at ports that are closed.
    private long _dropsBefore;
    private DropSample _drops;

    /// <summary>The number of addresses in use here.</summary>
    public int Count => _ports.Count;

    /// <summary>The datagrams that the kernel dropped because there was no room at these ports. The value is sampled.</summary>
    public long Drops
    {
        get
        {
            if (_ports.Count > 0 && _drops.IsDue(parts.Node.Environment.Now))
            {
                _drops.Note(CountDrops());
            }

            return _drops.Drops;
        }
    }

    /// <summary>Opens the ports for these addresses, and closes those that are not among them.</summary>
    /// <param name="configuration">The configuration that was applied.</param>
    /// <param name="addressOf">Returns the address of a topic to which this node subscribes; null: none.</param>
    /// <param name="news">The topics whose addresses may be new.</param>
    public void Apply(long configuration, Func<ulong, IPEndPoint?> addressOf, IEnumerable<ulong> news)
    {
        foreach (ulong topic in _ports.Keys.ToArray())
        {
            if (!Equals(addressOf(topic), _ports[topic].Group) && _ports.Remove(topic, out var port))
            {
                _withdrawn.Add((configuration, port));
            }
        }

        foreach (ulong topic in parts.Dissemination.SharesTopics ? news : [])
        {
            if (addressOf(topic) is { } group && !_ports.ContainsKey(topic))
            {
                _ports.Add(topic, TakeBack(group) ?? Open(group));
            }
        }
    }

    /// <summary>All nodes have confirmed the configurations up to this one.</summary>
    public void OnSettled(long settled)
    {
        for (int i = _withdrawn.Count - 1; i >= 0; i--)
        {
            if (_withdrawn[i].Configuration <= settled)
            {
                CloseOne(_withdrawn[i].Port);
                _withdrawn.RemoveAt(i);
            }
        }
    }

    public void Close()
    {
        foreach (var port in _ports.Values)
        {
            port.Close();
        }

        _withdrawn.ForEach(static withdrawn => withdrawn.Port.Close());
        _ports.Clear();
        _withdrawn.Clear();
    }

    private RegionPort Open(IPEndPoint group)
    {
        var port = new RegionPort(parts, group, receiver, static _ => { }, isOptional: true);
        port.AddUser();
        return port;
    }

    private RegionPort? TakeBack(IPEndPoint group)
    {
        int index = _withdrawn.FindIndex(withdrawn => withdrawn.Port.Group.Equals(group));
        if (index < 0)
        {
            return null;
        }

        var port = _withdrawn[index].Port;
        _withdrawn.RemoveAt(index);
        return port;
    }

    private void CloseOne(RegionPort port)
    {
        _dropsBefore += port.KernelDrops;
        port.RemoveUser();
    }

    private long CountDrops()
    {
        long drops = _dropsBefore;
        foreach (var port in _ports.Values)
        {
            drops += port.KernelDrops;
        }

        foreach (var (_, port) in _withdrawn)
        {
            drops += port.KernelDrops;
        }

        return drops;
    }
}
