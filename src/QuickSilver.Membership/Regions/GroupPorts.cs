using QuickSilver.Core.Environment;

namespace QuickSilver.Membership.Regions;

// The ports that regions' groups may have: a range, less those that this system gives to sockets which ask for any. A group's port
// is bound at each member because of its number, so one that another program happens to have makes that member deaf.
//
// What goes wrong: the members' systems may have other ranges than the service's. They say so when they are told of such a group; and
// the default range lies below what systems use unless they are told otherwise.
internal sealed class GroupPorts
{
    public const int DefaultFirst = 10_000;
    // Where Linux begins, and well below others.
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

    /// <summary>The system may give each port of the range to others, so that it is used as it is.</summary>
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

    public override string ToString() => $"{First}-{Last}";
}
