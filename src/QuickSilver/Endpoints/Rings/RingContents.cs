using System.Runtime.CompilerServices;
using QuickSilver.Endpoints.Subscriptions;

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

    public long Waiting => Slots.Count + Batch.Waiting;

    public long WaitingBytes => Slots.Bytes + Batch.WaitingBytes;

    /// <summary>Whether nothing is buffered for the first handlers.</summary>
    public bool IsEmpty => Slots.Count == 0 && Gaps.IsEmpty;

    public bool IsFull(int payloadBytes) =>
        Waiting >= capacity || (Waiting > 0 && WaitingBytes + payloadBytes > ReaderRing<T>.MaxBytes);

    public bool HadRoom(int payloadBytes) => _roomMessages > 0 && payloadBytes <= _roomBytes;

    public void NoteRoom()
    {
        _roomMessages = capacity - Waiting;
        _roomBytes = ReaderRing<T>.MaxBytes - WaitingBytes;
    }

    /// <summary>
    /// Called before anything is added. What was dropped for a message that finds no memory is counted when the message comes again.
    /// </summary>
    /// <exception cref="OutOfMemoryException">There is none. Nothing is changed.</exception>
    public void TakeMemory(IRingOwner? owner, int copiedBytes, ref int dropped)
    {
        try
        {
            if (Slots.IsTight)
            {
                owner?.OnGrowth(Unsafe.SizeOf<RingSlots<T>.Slot>());
                Slots.Reserve();
            }

            ref var next = ref Slots.Next;
            if (copiedBytes > 0 && !SlotBuffer.Fits(next.Buffer, copiedBytes))
            {
                owner?.OnGrowth(copiedBytes);
                next.Buffer = SlotBuffer.Fit(next.Buffer, copiedBytes);
            }
        }
        catch (OutOfMemoryException)
        {
            Uncounted += dropped;
            throw;
        }

        dropped += Uncounted;
        Uncounted = 0;
    }

    /// <summary>
    /// Hands all over to the first handlers, with the buffers of byte payloads: the ring does not know how long the handlers use them.
    /// </summary>
    public HandlerBacklog<T> TakeAll(HandlerEndpoint<T>[] handlers)
    {
        var backlog = new HandlerBacklog<T>(handlers);
        while (true)
        {
            while (Gaps.TryTake(Slots.Head, out var gap))
            {
                backlog.Add(gap);
            }

            if (Slots.Count == 0)
            {
                Slots.Renew();
                return backlog;
            }

            backlog.Add(Slots.Oldest.Message);
            Slots.RemoveOldest();
        }
    }

    /// <summary>Adds a byte payload, which is copied into the slot's buffer: the memory for it was taken before.</summary>
    public void AppendBytes(ReadOnlySpan<byte> payload, NodeId sender, long sequence, MessageOrigin origin)
    {
        ref var slot = ref Slots.Append(payload.Length);
        payload.CopyTo(slot.Buffer);
        var memory = new ReadOnlyMemory<byte>(slot.Buffer, 0, payload.Length);
        slot.Message = new Message<T>(Unsafe.As<ReadOnlyMemory<byte>, T>(ref memory), sender, sequence) { Origin = origin };
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

    /// <summary>Drops the oldest messages until there is room, or none is left. Returns how many.</summary>
    public int DropOldestFor(int payloadBytes)
    {
        int dropped = 0;
        while (Slots.Count > 0 && IsFull(payloadBytes))
        {
            DropOldest(GapReason.ReaderFull);
            dropped++;
        }

        return dropped;
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
