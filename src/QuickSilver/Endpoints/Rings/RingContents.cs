namespace QuickSilver.Endpoints.Rings;

// What a ring contains once there is something to buffer or read: the buffered messages, those that the reader has taken, and the gaps
// between them. Not thread-safe: the ring's lock guards it.
internal sealed class RingContents<T>(int capacity)
{
    // Used by the core thread only: the room after its last addition. No other thread adds, so there is no less room now.
    private long _roomMessages;
    private long _roomBytes;

    /// <summary>Messages that were dropped for one that found no memory then, and that are not counted yet.</summary>
    public int Uncounted { get; set; }

    /// <summary>The reader, if it wants to know of the end.</summary>
    public IRingReader? Reader { get; set; }

    public GapLine Gaps { get; } = new();

    public RingSlots<T> Slots { get; } = new();

    public RingBatch<T> Batch { get; } = new(capacity);

    public bool HadRoom(int payloadBytes) => _roomMessages > 0 && payloadBytes <= _roomBytes;

    public void NoteRoom(long messages, long bytes)
    {
        _roomMessages = messages;
        _roomBytes = bytes;
    }

    /// <summary>Puts back what the reader has taken and not read.</summary>
    public void PutBack()
    {
        // Messages that were dropped since came after those that are put back, which take over their positions.
        Gaps.MoveBehind(Slots.Head);
        Batch.PutBack(Slots);
    }

    /// <summary>Drops the oldest buffered message, of which a gap remains.</summary>
    public void DropOldest(GapReason reason)
    {
        ref var slot = ref Slots.Oldest;
        var gap = new GapNotice(slot.Message.Sender, slot.Message.Sequence, slot.Message.Sequence, reason);
        Gaps.Drop(Slots.Head, gap);
        slot.Buffer = SlotBuffer.Keep(slot.Buffer);
        Slots.RemoveOldest();
    }

    public void DropAll(GapReason reason)
    {
        while (Slots.Count > 0)
        {
            DropOldest(reason);
        }
    }

    /// <summary>The gaps, and what the reader has taken and not read. The reader must not be reading.</summary>
    public IReadOnlyList<GapNotice> PeekUnread(GapReason reason) =>
    [
        .. Batch.Unread.Select(message => new GapNotice(message.Sender, message.Sequence, message.Sequence, reason)),
        .. Gaps.All,
    ];

    /// <summary>Drops all buffered messages. Returns their gaps and those that were there before, in order.</summary>
    public List<GapNotice> TakeRest(GapReason reason)
    {
        DropAll(reason);
        var rest = new List<GapNotice>();
        while (Gaps.TryTake(long.MaxValue, out var gap))
        {
            rest.Add(gap);
        }

        return rest;
    }
}
