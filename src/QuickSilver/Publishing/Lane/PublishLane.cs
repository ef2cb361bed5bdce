using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace QuickSilver.Publishing.Lane;

// The path of most messages from publishers, on any thread, to the core thread: a ring buffer of bytes into which each publisher encodes
// its message, so that a message is passed without an object, a queue or a pool of its own. Messages that do not fit (large ones, and
// those whose publisher waits until they are stable) bypass the lane as a PublishRequest. The message of a publisher that waits for room
// is one too, until there is room.
//
// A publisher claims a place with one compare-and-swap on the tail, writes the message there, and commits. The core thread takes places in
// the order of their claims, so a publisher that is delayed between claim and commit delays those behind it; that interval lasts as long as
// one encoding. A commit is a number in a table beside the ring, one per granule, that contains the lap. The bytes that an earlier lap left
// in the ring, which publishers choose, can therefore never be mistaken for a commit.
//
// Invariants: head <= tail <= head + capacity; positions only increase; a place never crosses the end of the ring (a claim that would cross
// it also takes the rest, which is committed as empty); the bytes of [head, tail) belong to their claimants until they are committed, then
// to the core thread.
internal sealed class PublishLane
{
    private const int Granule = 64;
    private const int HeaderBytes = 12;
    private const int MaxBytes = 1 << 20;
    private const int LargestPayload = 16 << 10;

    // The second length of a header's last word: that of the extensions, which precede the payload.
    private const int ExtensionShift = 24;

    // How often the messages are counted again because one was taken meanwhile.
    private const int MostCounts = 3;

    // The source of a place without a message.
    private const int Nothing = 0;

    private readonly int _capacity;
    private readonly int _lapShift;
    private byte[] _bytes = [];
    private int[] _committed = [];
    private Cursors _at;

    /// <param name="publishQueueBytes">The bytes that may wait at the node in total. The lane takes a quarter of it, up to 1 MiB.</param>
    public PublishLane(long publishQueueBytes)
    {
        _capacity = (int)Math.Min(MaxBytes, (long)(BitOperations.RoundUpToPowerOf2((ulong)(publishQueueBytes / 4) + 1) / 2));
        _lapShift = BitOperations.Log2((uint)_capacity);
        MaxPayloadBytes = Math.Min(LargestPayload, _capacity / 8);
    }

    public int CapacityBytes => _capacity;

    /// <summary>The maximum payload. Larger messages bypass the lane.</summary>
    public int MaxPayloadBytes { get; }

    /// <summary>From any thread: the position of the next claim. All earlier claims are before it.</summary>
    public long Tail => Volatile.Read(ref _at.Tail);

    /// <summary>From any thread: the bytes that wait, claimed or committed.</summary>
    public long UsedBytes => Math.Max(0, Volatile.Read(ref _at.Tail) - Volatile.Read(ref _at.Head));

    /// <summary>From any thread: whether there is enough room for a waiting publisher to publish for a while.</summary>
    public bool HasMuchRoom => UsedBytes <= _capacity / 4;

    /// <summary>
    /// From any thread: whether the messages of some topic bypass the lane because earlier ones wait outside it. The topic's gate knows
    /// which topic.
    /// </summary>
    public bool IsAnyPast => Volatile.Read(ref _at.Past) != 0;

    /// <summary>From any thread, before a gate has a reason for messages to bypass the lane.</summary>
    public void BeginPast() => Interlocked.Increment(ref _at.Past);

    /// <summary>From any thread, after the reason has ended.</summary>
    public void EndPast() => Interlocked.Decrement(ref _at.Past);

    /// <summary>Core thread: the position of the oldest place that was not taken yet.</summary>
    public long Next
    {
        get => _at.Next;
        private set => Volatile.Write(ref _at.Next, value);
    }

    /// <summary>Core thread, before the first publisher uses the lane. A node that never publishes has no memory for it.</summary>
    public void Reserve()
    {
        if (_bytes.Length == 0)
        {
            _bytes = GC.AllocateUninitializedArray<byte>(_capacity);
            _committed = new int[_capacity / Granule];
        }
    }

    /// <summary>
    /// From any thread: claims a place for a payload of this size. It must be committed or abandoned promptly, in every case. False: no
    /// room.
    /// </summary>
    public bool TryClaim(int payloadBytes, out LaneClaim claim)
    {
        int bytes = PlaceBytes(payloadBytes);
        while (true)
        {
            long tail = Volatile.Read(ref _at.Tail);
            int offset = (int)tail & (_capacity - 1);
            int rest = _capacity - offset;
            int taken = bytes <= rest ? bytes : bytes + rest;
            if (tail + taken - _at.HeadSeen > _capacity)
            {
                // Publishers share the head that they have last seen, and read the core thread's own value only if they must.
                _at.HeadSeen = Volatile.Read(ref _at.Head);
                if (tail + taken - _at.HeadSeen > _capacity)
                {
                    claim = default;
                    return false;
                }
            }

            if (Interlocked.CompareExchange(ref _at.Tail, tail + taken, tail) != tail)
            {
                continue;
            }

            if (taken != bytes)
            {
                WriteHeader(offset, rest, Nothing, 0);
                Commit(tail);
                tail += rest;
                offset = 0;
            }

            claim = new LaneClaim(tail, bytes, _bytes.AsSpan(offset + HeaderBytes, payloadBytes));
            return true;
        }
    }

    /// <summary>Called by the claimant when its message is written. A full fence: later reads are not moved before it.</summary>
    public void Commit(in LaneClaim claim, int source, int payloadBytes, int extensionBytes = 0)
    {
        WriteHeader((int)claim.Position & (_capacity - 1), claim.Bytes, source, payloadBytes | (extensionBytes << ExtensionShift));
        Commit(claim.Position);
    }

    /// <summary>Called by the claimant if it has no message.</summary>
    public void Abandon(in LaneClaim claim) => Commit(claim, Nothing, 0);

    /// <summary>Core thread: whether the oldest place is claimed and not committed.</summary>
    public bool IsHeldUp => Volatile.Read(ref _at.Tail) != Next && !TryRead(Next, out _);

    /// <summary>Core thread: gets the oldest message that was not taken yet, if it is committed.</summary>
    public bool TryPeek(out LaneMessage message)
    {
        while (TryRead(Next, out message))
        {
            if (message.Source != Nothing)
            {
                return true;
            }

            Next += message.Bytes;
        }

        return false;
    }

    /// <summary>Core thread: like TryPeek, for any committed place that was not taken. The next place begins at its end.</summary>
    public bool TryRead(long position, out LaneMessage message)
    {
        int offset = (int)position & (_capacity - 1);
        if (_committed.Length == 0 || Volatile.Read(ref _committed[offset / Granule]) != Lap(position))
        {
            message = default;
            return false;
        }

        ref byte header = ref _bytes[offset];
        int bytes = Unsafe.ReadUnaligned<int>(ref header);
        int source = Unsafe.ReadUnaligned<int>(ref Unsafe.Add(ref header, 4));
        int length = Unsafe.ReadUnaligned<int>(ref Unsafe.Add(ref header, 8));
        offset += HeaderBytes;
        int extensions = length >>> ExtensionShift;
        if (extensions == 0)
        {
            message = new LaneMessage(position, bytes, source, default, _bytes.AsSpan(offset, length));
            return true;
        }

        length &= (1 << ExtensionShift) - 1;
        message = new LaneMessage(
            position, bytes, source, _bytes.AsSpan(offset, extensions), _bytes.AsSpan(offset + extensions, length));
        return true;
    }

    /// <summary>
    /// Core thread: removes the committed messages of a source that were not taken yet, and returns their number. Their places stay, empty.
    /// </summary>
    public long Remove(int source)
    {
        long messages = 0;
        long position = Next;
        long tail = Tail;
        while (position < tail && TryRead(position, out var message))
        {
            if (message.Source == source)
            {
                WriteHeader((int)position & (_capacity - 1), message.Bytes, Nothing, 0);
                messages++;
            }

            position += message.Bytes;
        }

        return messages;
    }

    /// <summary>Core thread: whether every place before this position is committed.</summary>
    public bool IsCommitted(long end) => TryCount(Next, end, out _);

    /// <summary>
    /// From any thread: the messages that were not taken. Those that the core thread takes meanwhile may be counted or not. Never more than
    /// there are.
    /// </summary>
    public long Waiting
    {
        get
        {
            long messages = 0;
            for (int i = 0; i < MostCounts; i++)
            {
                // What is committed in [next, tail) is not written again while nothing is taken.
                long next = Volatile.Read(ref _at.Next);
                _ = TryCount(next, Tail, out messages);
                if (Volatile.Read(ref _at.Next) == next)
                {
                    break;
                }
            }

            return messages;
        }
    }

    public static bool IsEmptyPlace(in LaneMessage message) => message.Source == Nothing;

    /// <summary>
    /// Core thread: takes the message. Its bytes stay unchanged until Release. A message that is taken again stays taken.
    /// </summary>
    public void Take(in LaneMessage message) => Next = message.Position + message.Bytes;

    /// <summary>
    /// Core thread: lets publishers write where messages were taken. A full fence, because the caller then checks whether publishers wait
    /// for room.
    /// </summary>
    public void Release() => Interlocked.Exchange(ref _at.Head, Next);

    // Counts the committed messages up to the first place that is not committed. Another thread than the core thread may read places that
    // are written again: it leaves them at the first length that no place has.
    private bool TryCount(long from, long to, out long messages)
    {
        messages = 0;
        long at = from;
        while (at < to)
        {
            int offset = (int)at & (_capacity - 1);
            if (_committed.Length == 0 || Volatile.Read(ref _committed[offset / Granule]) != Lap(at))
            {
                return false;
            }

            ref byte header = ref _bytes[offset];
            int bytes = Unsafe.ReadUnaligned<int>(ref header);
            int of = Unsafe.ReadUnaligned<int>(ref Unsafe.Add(ref header, 4));
            if (bytes < Granule || bytes > _capacity - offset)
            {
                return false;
            }

            messages += of == Nothing ? 0 : 1;
            at += bytes;
        }

        return true;
    }

    private static int PlaceBytes(int payloadBytes) => (HeaderBytes + payloadBytes + Granule - 1) & -Granule;

    private int Lap(long position) => (int)(position >> _lapShift) + 1;

    private void WriteHeader(int offset, int bytes, int source, int lengths)
    {
        ref byte header = ref _bytes[offset];
        Unsafe.WriteUnaligned(ref header, bytes);
        Unsafe.WriteUnaligned(ref Unsafe.Add(ref header, 4), source);
        Unsafe.WriteUnaligned(ref Unsafe.Add(ref header, 8), lengths);
    }

    private void Commit(long position) =>
        Interlocked.Exchange(ref _committed[((int)position & (_capacity - 1)) / Granule], Lap(position));

    // Each field has cache lines of its own, at least two apart because the prefetcher loads pairs. All are apart from the fields that are
    // only read.
    [StructLayout(LayoutKind.Explicit, Size = 768)]
    private struct Cursors
    {
        [FieldOffset(128)]
        public long Tail;

        // Written by the publisher that last read the head; whichever write wins, it is at most the head.
        [FieldOffset(256)]
        public long HeadSeen;

        [FieldOffset(384)]
        public long Head;

        // Written by the core thread with each message. Other threads read it to count what waits.
        [FieldOffset(512)]
        public long Next;

        // The number of reasons for which gates make messages of their topics bypass the lane. It is read with each publish call, and
        // written when a publisher has to wait.
        [FieldOffset(640)]
        public int Past;
    }
}

// A publisher's place in the lane until it is committed.
internal readonly ref struct LaneClaim(long position, int bytes, Span<byte> payload)
{
    public long Position { get; } = position;

    public int Bytes { get; } = bytes;

    public Span<byte> Payload { get; } = payload;
}

// One committed message in the lane.
internal readonly ref struct LaneMessage(
    long position, int bytes, int source, ReadOnlySpan<byte> extensions, ReadOnlySpan<byte> payload)
{
    public long Position { get; } = position;

    /// <summary>The bytes of the place, header and padding included.</summary>
    public int Bytes { get; } = bytes;

    /// <summary>The endpoint that published the message, by its number at the intake.</summary>
    public int Source { get; } = source;

    /// <summary>The fields that the message carries besides its payload.</summary>
    public ReadOnlySpan<byte> Extensions { get; } = extensions;

    public ReadOnlySpan<byte> Payload { get; } = payload;
}
