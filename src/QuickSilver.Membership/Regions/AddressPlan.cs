using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Regions;

// Assigns to every live region a multicast address and port of its own from a range. The search begins at a point that is derived from the
// cluster's name and the region's id, so that two clusters on one network, or two successive services, rarely use the same address. A
// released address rests until every node has settled past the region's end, because until then a node may still send to it. When all
// addresses of the range are used, an address is shared with a different port, which still separates the streams. When all ports are used
// too, both are shared, and each member receives and refuses packets that are not for it.
internal sealed class AddressPlan
{
    // Bounds the table if a node never settles: beyond this number, the oldest address becomes free.
    private const int MaxResting = 65_536;

    private readonly uint _base;
    private readonly uint _size;
    private readonly ulong _clusterHash;
    private readonly GroupPorts _ports;
    private readonly Dictionary<uint, int> _claims = [];
    private readonly Dictionary<(uint Slot, int Port), int> _endPoints = [];
    private readonly List<(ulong Region, IPEndPoint Group, long Configuration)> _resting = [];

    public AddressPlan(string cluster, IPAddress rangeBase, int prefixLength, GroupPorts? ports = null)
    {
        _ports = ports ?? GroupPorts.Default;
        if (rangeBase.AddressFamily != AddressFamily.InterNetwork || prefixLength is < 8 or > 30)
        {
            throw new ArgumentException(
                $"The multicast range {rangeBase}/{prefixLength} must be an IPv4 range with a prefix length of 8 to 30.");
        }

        _size = 1u << (32 - prefixLength);
        _base = ToNumber(rangeBase) & ~(_size - 1);
        _clusterHash = TopicId.Of(cluster);
        if (_base >> 28 != 0xE)
        {
            throw new ArgumentException($"The multicast range {rangeBase}/{prefixLength} must be within 224.0.0.0/4.");
        }
    }

    /// <summary>The number of addresses in use or resting.</summary>
    public int Claimed => _endPoints.Count;

    /// <summary>The number of addresses that had to be shared because the range was used up.</summary>
    public long Shared { get; private set; }

    public IPEndPoint Take(ulong regionId)
    {
        ulong hash = TopicSetKey.OfTopic(_clusterHash ^ regionId).High;
        uint slot = (uint)hash & (_size - 1);
        int index = (int)((hash >> 32) % (ulong)_ports.Count);
        if (_claims.Count < _size)
        {
            while (_claims.ContainsKey(slot))
            {
                slot = (slot + 1) & (_size - 1);
            }
        }
        else
        {
            Shared++;
            for (int tries = 1; tries < _ports.Count && _endPoints.ContainsKey((slot, _ports[index])); tries++)
            {
                index = (index + 1) % _ports.Count;
            }
        }

        int port = _ports[index];
        Claim(slot, port);
        return new IPEndPoint(ToAddress(_base + slot), port);
    }

    /// <summary>
    /// Takes the group that a region had under an earlier service, shared with another one if need be. False if it is not of the range.
    /// </summary>
    public bool TryTake(IPEndPoint group)
    {
        if (group.AddressFamily != AddressFamily.InterNetwork || !_ports.Contains(group.Port)
            || ToNumber(group.Address) is var number && (number < _base || number - _base >= _size))
        {
            return false;
        }

        Claim(number - _base, group.Port);
        return true;
    }

    /// <summary>Called when the region has no group from this configuration on.</summary>
    public void Release(ulong region, IPEndPoint group, long configuration)
    {
        _resting.Add((region, group, configuration));
        if (_resting.Count > MaxResting)
        {
            Free(_resting[0].Group);
            _resting.RemoveAt(0);
        }
    }

    /// <summary>Called when every node has settled up to this configuration, except for these views.</summary>
    public void Settle(long configuration, IReadOnlyCollection<OpenView> open)
    {
        var regions = open.Select(static view => view.Region).ToHashSet();
        _resting.RemoveAll(rested =>
        {
            bool isOver = rested.Configuration <= configuration && !regions.Contains(rested.Region);
            if (isOver)
            {
                Free(rested.Group);
            }

            return isOver;
        });
    }

    private void Claim(uint slot, int port)
    {
        _claims[slot] = _claims.GetValueOrDefault(slot) + 1;
        _endPoints[(slot, port)] = _endPoints.GetValueOrDefault((slot, port)) + 1;
    }

    private void Free(IPEndPoint group)
    {
        uint slot = ToNumber(group.Address) - _base;
        if (--_endPoints[(slot, group.Port)] == 0)
        {
            _endPoints.Remove((slot, group.Port));
        }

        if (--_claims[slot] == 0)
        {
            _claims.Remove(slot);
        }
    }

    private static uint ToNumber(IPAddress address)
    {
        Span<byte> bytes = stackalloc byte[4];
        address.TryWriteBytes(bytes, out _);
        return BinaryPrimitives.ReadUInt32BigEndian(bytes);
    }

    private static IPAddress ToAddress(uint number)
    {
        Span<byte> bytes = stackalloc byte[4];
        BinaryPrimitives.WriteUInt32BigEndian(bytes, number);
        return new IPAddress(bytes);
    }
}
