namespace QuickSilver.Publishing.Lane;

// The endpoints that publish through the lane, by the numbers that its messages carry. A number is never reused, because a slow publisher
// may commit after its endpoint has ended. Core thread only.
//
// Pages are used, not a dictionary: with thousands of topics, a message then finds its endpoint with one memory access, not two. A page is
// released when all its endpoints have left, so only an entry in the page table remains.
internal sealed class LaneSources
{
    private const int PageBits = 5;
    private const int PageSize = 1 << PageBits;

    private LaneSource[]?[] _pages = [];
    // For each page, the number of endpoints that have not left.
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

    /// <summary>Removes an endpoint. False if it was removed before.</summary>
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
    /// <summary>Whether the endpoint does not exist any more.</summary>
    public bool IsAbsent => Origin is null;
}
