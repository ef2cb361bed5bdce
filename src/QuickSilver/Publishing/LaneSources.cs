namespace QuickSilver.Publishing;

// The endpoints that publish by the lane, by the numbers that its messages carry. Numbers are never given again: a publisher that
// is slow may commit after its endpoint is gone. Core thread only.
//
// In pages, not in a dictionary: with thousands of topics a message finds its endpoint in one place, not in two. A page whose
// endpoints have all left is let go of, so what remains of them is a place among the pages.
internal sealed class LaneSources
{
    private const int PageBits = 5;
    private const int PageSize = 1 << PageBits;

    private LaneSource[]?[] _pages = [];
    // Of each page those that have not left.
    private int[] _present = [];
    private int _last;

    public int Count { get; private set; }

    public int Add(PublishOrigin origin, TopicPublisher publisher)
    {
        int number = ++_last;
        int page = number >> PageBits;
        if (page >= _pages.Length)
        {
            Array.Resize(ref _pages, Math.Max(2 * _pages.Length, 1));
            Array.Resize(ref _present, _pages.Length);
        }

        (_pages[page] ??= new LaneSource[PageSize])[number & (PageSize - 1)] = new LaneSource(origin, publisher);
        _present[page]++;
        Count++;
        return number;
    }

    /// <summary>False when it has left before.</summary>
    public bool Remove(int number)
    {
        int page = number >> PageBits;
        if (Find(number).IsAbsent)
        {
            return false;
        }

        _pages[page]![number & (PageSize - 1)] = default;
        Count--;
        if (--_present[page] == 0 && page < _last >> PageBits)
        {
            _pages[page] = null;
        }

        return true;
    }

    public LaneSource Find(int number) =>
        _pages[number >> PageBits] is { } page ? page[number & (PageSize - 1)] : default;
}

internal readonly record struct LaneSource(PublishOrigin Origin, TopicPublisher Publisher)
{
    /// <summary>There is no such endpoint any more.</summary>
    public bool IsAbsent => Origin is null;
}
