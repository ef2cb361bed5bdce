using QuickSilver.Core.Environment;

namespace QuickSilver.Membership.Regions.Addresses;

// The ports that the groups of regions may use: a range without the ports that this system assigns to sockets that request any port. Each
// member must bind the port of a group by its number. If another program has the port, that member is deaf.
//
// What goes wrong: the systems of members may have other ranges than the system of the service. A member reports this when it gets such a
// group. The default range is below the ranges that systems use by default.
internal sealed class GroupPorts
{
    public const int DefaultFirst = 10_000;
    // The range of Linux begins after this port; those of other systems begin well above it.
    public const int DefaultLast = 32_767;

    private readonly List<(int First, int Last)> _parts = [];

    public GroupPorts(int first, int last, EphemeralPorts? without = null)
    {
        (First, Last) = (first, last);
        int begin = -1;
        for (int port = first; port <= last + 1; port++)
        {
            bool isFree = port <= last && without?.Contains(port) != true;
            if (isFree && begin < 0)
            {
                begin = port;
            }
            else if (!isFree && begin >= 0)
            {
                _parts.Add((begin, port - 1));
                begin = -1;
            }
        }

        IsAllEphemeral = _parts.Count == 0;
        if (IsAllEphemeral)
        {
            _parts.Add((first, last));
        }

        foreach (var part in _parts)
        {
            Count += part.Last - part.First + 1;
        }
    }

    public static GroupPorts Default { get; } = new(DefaultFirst, DefaultLast);

    public int First { get; }

    public int Last { get; }

    public int Count { get; }

    /// <summary>Whether the system may assign every port of the range automatically. The range is then used unchanged.</summary>
    public bool IsAllEphemeral { get; }

    public int this[int index]
    {
        get
        {
            foreach (var (first, last) in _parts)
            {
                int size = last - first + 1;
                if (index < size)
                {
                    return first + index;
                }

                index -= size;
            }

            throw new ArgumentOutOfRangeException(nameof(index));
        }
    }

    public bool Contains(int port) => _parts.Exists(part => port >= part.First && port <= part.Last);

    public override string ToString() => $"{First}-{Last}";
}
