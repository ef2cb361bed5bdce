using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using QuickSilver.Membership.Regions.Sets;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Regions.Addresses;

// Assigns to every live region a multicast address and port of its own from a range. The search begins at a point that is derived from the
// cluster's name and the region's id, so that two clusters on one network, or two successive services, rarely use the same address. A
// released address rests until every node has settled past the region's end, because until then a node may still send to it. When all
// addresses of the range are used, an address is shared with a different port, which still separates the streams. When all ports are used
// too, both are shared, and each member receives and refuses packets that are not for it.
internal sealed class AddressPlan
{
    // Bounds the table if a node never settles: beyond this number, the oldest address becomes free.
    private const int MaxResting = 65_536;

    private const int LeastPrefix = 8;
    private const int LeastPrefixV6 = 97;
    // The addresses of a range differ in at least this many low bits.
    private const int LeastBits = 2;

    // Of the first address; the last four bytes are those that differ, with the number of the address in their lower bits.
    private readonly byte[] _base;
    private readonly uint _first;
    private readonly uint _size;
    private readonly ulong _clusterHash;
    private readonly GroupPorts _ports;
    private readonly Dictionary<uint, int> _claims = [];
    private readonly Dictionary<(uint Slot, int Port), int> _endPoints = [];
    private readonly List<(ulong Region, IPEndPoint Group, long Configuration)> _resting = [];

    public AddressPlan(string cluster, IPNetwork range, GroupPorts? ports = null)
    {
        _ports = ports ?? GroupPorts.Default;
        if (!IsRange(range))
        {
            throw new ArgumentException(
                $"The multicast range {range} must be within 224.0.0.0/4 with a prefix length of 8 to 30, or within ff00::/8 with one of"
                + " 97 to 126.");
        }

        _base = range.BaseAddress.GetAddressBytes();
        _size = 1u << ((_base.Length * 8) - range.PrefixLength);
        _first = ToNumber(range.BaseAddress) & ~(_size - 1);
        _clusterHash = TopicId.Of(cluster);
    }

    /// <summary>Whether these are multicast addresses, not too few and not more than can be numbered.</summary>
    public static bool IsRange(IPNetwork range) => range.BaseAddress is { AddressFamily: AddressFamily.InterNetworkV6 } address
        ? address.IsIPv6Multicast && range.PrefixLength is >= LeastPrefixV6 and <= 128 - LeastBits
        : ToNumber(range.BaseAddress) >> 28 == 0xE && range.PrefixLength is >= LeastPrefix and <= 32 - LeastBits;

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
        return new IPEndPoint(ToAddress(_first + slot), port);
    }

    /// <summary>
    /// Takes the group that a region had under an earlier service, shared with another one if need be. False if it is not of the range.
    /// </summary>
    public bool TryTake(IPEndPoint group)
    {
        uint slot = ToNumber(group.Address) - _first;
        if (slot >= _size || !_ports.Contains(group.Port) || !ToAddress(_first + slot).Equals(group.Address))
        {
            return false;
        }

        Claim(slot, group.Port);
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
        uint slot = ToNumber(group.Address) - _first;
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
        Span<byte> bytes = stackalloc byte[16];
        address.TryWriteBytes(bytes, out int length);
        return BinaryPrimitives.ReadUInt32BigEndian(bytes[(length - sizeof(uint))..]);
    }

    private IPAddress ToAddress(uint number)
    {
        Span<byte> bytes = stackalloc byte[_base.Length];
        _base.CopyTo(bytes);
        BinaryPrimitives.WriteUInt32BigEndian(bytes[^sizeof(uint)..], number);
        return new IPAddress(bytes);
    }
}
