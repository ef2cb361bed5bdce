using System.Runtime.InteropServices;

namespace QuickSilver.Endpoints.Rings;

// The gap notices that the reader has not received yet, each with the position of the message before which it belongs, in order of
// position. Adjacent ranges of one sender are one notice, so there are at most a few per sender, however many messages were dropped. Not
// thread-safe: the ring's lock guards it.
internal sealed class GapLine
{
    // With this many notices, dropped ranges of one sender are joined even if they are not adjacent, because all messages between them are
    // missing too.
    private const int ManyNotices = 1024;

    private readonly List<Entry> _notices = [];
    private int _first;

    public bool IsEmpty => _first == _notices.Count;

    /// <summary>The notices, in order.</summary>
    public IEnumerable<GapNotice> All => _notices.Skip(_first).Select(static entry => entry.Gap);

    /// <summary>The position of the first message that a notice precedes.</summary>
    public long Position => IsEmpty ? long.MaxValue : _notices[_first].Position;

    /// <summary>Adds a gap after all messages of the ring, which ends before <paramref name="position"/>.</summary>
    public void Append(long position, in GapNotice gap)
    {
        var notices = CollectionsMarshal.AsSpan(_notices);
        for (int i = notices.Length - 1; i >= _first && notices[i].Position == position; i--)
        {
            if (TryJoin(ref notices[i].Gap, gap, joinApart: false))
            {
                return;
            }
        }

        Insert(_notices.Count, position, gap);
    }

    /// <summary>
    /// Adds the gap of the ring's oldest message, which was at <paramref name="head"/> and was dropped. The gap precedes all messages that
    /// are left.
    /// </summary>
    public void Drop(long head, in GapNotice gap)
    {
        var notices = CollectionsMarshal.AsSpan(_notices);
        int end = _first;
        while (end < notices.Length && notices[end].Position <= head)
        {
            end++;
        }

        bool many = end - _first >= ManyNotices;
        for (int i = end - 1; i >= _first; i--)
        {
            if (TryJoin(ref notices[i].Gap, gap, many))
            {
                return;
            }
        }

        Insert(end, head, gap);
    }

    /// <summary>Called before messages are put back before this position: all notices come after them.</summary>
    public void MoveBehind(long position)
    {
        foreach (ref var notice in CollectionsMarshal.AsSpan(_notices)[_first..])
        {
            notice.Position = Math.Max(notice.Position, position);
        }
    }

    /// <summary>Takes the next notice that belongs before the message at <paramref name="position"/>.</summary>
    public bool TryTake(long position, out GapNotice gap)
    {
        if (IsEmpty || _notices[_first].Position > position)
        {
            gap = default;
            return false;
        }

        gap = _notices[_first++].Gap;
        if (_first == _notices.Count)
        {
            Clear();
        }

        return true;
    }

    public void Clear()
    {
        _notices.Clear();
        _first = 0;
    }

    private void Insert(int at, long position, in GapNotice gap)
    {
        if (_first > 64 && _first > _notices.Count / 2)
        {
            _notices.RemoveRange(0, _first);
            at -= _first;
            _first = 0;
        }

        _notices.Insert(at, new Entry { Position = position, Gap = gap });
    }

    private static bool TryJoin(ref GapNotice known, in GapNotice gap, bool joinApart)
    {
        if (known.Sender != gap.Sender)
        {
            return false;
        }

        bool adjoins = known.Last + 1 == gap.First && known.Reason == gap.Reason;
        if (adjoins || (joinApart && known.Last < gap.First))
        {
            known = known with { Last = gap.Last };
            return true;
        }

        return false;
    }

    private struct Entry
    {
        public long Position;
        public GapNotice Gap;
    }
}
