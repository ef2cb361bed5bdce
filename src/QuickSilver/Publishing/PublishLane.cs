using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace QuickSilver.Publishing;

// The way of most messages from publishers, on any thread, to the core thread: a ring of bytes into which each publisher
// encodes its message, so that a message is handed over without an object, a queue or a pool of its own. What does not fit
// the lane (large messages, those that wait until stable, publishers that wait for room) goes past it as PublishRequest.
//
// A publisher claims its place with one compare-and-swap on the tail, writes there, and commits. Places are taken from the
// lane in the order of their claims, so a publisher that is held up between claim and commit holds up those behind it; that
// span is an encoding long. A commit is a number in a table beside the ring, one per granule, which names the lap: what an
// earlier lap left in the ring, which publishers choose, can never be taken for a commit.
//
// Invariants: head <= tail <= head + capacity; positions only grow; a place never crosses the ring's end (a claim that would
// takes the rest too, committed empty); the bytes of [head, tail) belong to their claimants until committed, then to the core.
internal sealed class PublishLane
{
    private const int Granule = 64;
    private const int HeaderBytes = 12;
    private const int MaxBytes = 1 << 20;
    private const int LargestPayload = 16 << 10;

    // The source of a place that holds no message.
    private const int Nothing = 0;

    private readonly int _capacity;
    private readonly int _lapShift;
    private byte[] _bytes = [];
    private int[] _committed = [];
    private Cursors _at;

    /// <param name="publishQueueBytes">What may wait at the node in all; the lane takes a quarter of it, to 1 MiB.</param>
    public PublishLane(long publishQueueBytes)
    {
        _capacity = (int)Math.Min(MaxBytes, (long)(BitOperations.RoundUpToPowerOf2((ulong)(publishQueueBytes / 4) + 1) / 2));
        _lapShift = BitOperations.Log2((uint)_capacity);
        MaxPayloadBytes = Math.Min(LargestPayload, _capacity / 8);
    }

    public int CapacityBytes => _capacity;

    /// <summary>Larger messages go past the lane.</summary>
    public int MaxPayloadBytes { get; }

    /// <summary>From any thread: where the next claim begins. All that was claimed before lies in front of it.</summary>
    public long Tail => Volatile.Read(ref _at.Tail);

    /// <summary>From any thread: what waits, claimed or committed.</summary>
    public long UsedBytes => Math.Max(0, Volatile.Read(ref _at.Tail) - Volatile.Read(ref _at.Head));

    /// <summary>From any thread: room enough that a publisher who waits now runs for a while.</summary>
    public bool HasMuchRoom => UsedBytes <= _capacity / 4;

    /// <summary>From any thread: some topic's messages go past the lane as others of it wait there; its gate knows which.</summary>
    public bool IsAnyPast => Volatile.Read(ref _at.Past) != 0;

    /// <summary>From any thread, before a gate has a reason for it.</summary>
    public void BeginPast() => Interlocked.Increment(ref _at.Past);

    /// <summary>From any thread, after the reason is gone.</summary>
    public void EndPast() => Interlocked.Decrement(ref _at.Past);

    /// <summary>Core thread: the oldest place not taken yet.</summary>
    public long Next
    {
        get => _at.Next;
        private set => _at.Next = value;
    }

    /// <summary>Core thread, before the first publisher knows the lane: a node that never publishes has no memory for it.</summary>
    public void Reserve()
    {
        if (_bytes.Length == 0)
        {
            _bytes = GC.AllocateUninitializedArray<byte>(_capacity);
            _committed = new int[_capacity / Granule];
        }
    }

    /// <summary>From any thread: a place for so many bytes, to be committed or abandoned at once, in any case; false: no room.</summary>
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
                // Publishers share what they have seen of the head, and look at the core thread's own word only when they must.
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

    /// <summary>From the claimant: its message is written. A full fence: what is read after this was not read before it.</summary>
    public void Commit(in LaneClaim claim, int source, int payloadBytes)
    {
        WriteHeader((int)claim.Position & (_capacity - 1), claim.Bytes, source, payloadBytes);
        Commit(claim.Position);
    }

    /// <summary>From the claimant: it has no message after all.</summary>
    public void Abandon(in LaneClaim claim) => Commit(claim, Nothing, 0);

    /// <summary>Core thread: the oldest place is claimed and not committed.</summary>
    public bool IsHeldUp => Volatile.Read(ref _at.Tail) != Next && !TryRead(Next, out _);

    /// <summary>Core thread: the oldest message not taken yet, if it is committed.</summary>
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

    /// <summary>Core thread: as TryPeek, for any committed place that was not taken; the next one is at its end.</summary>
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
        message = new LaneMessage(position, bytes, source, _bytes.AsSpan(offset + HeaderBytes, length));
        return true;
    }

    public static bool IsEmptyPlace(in LaneMessage message) => message.Source == Nothing;

    /// <summary>Core thread: this one is taken. Its bytes stay untouched until Release.</summary>
    public void Take(in LaneMessage message) => Next = message.Position + message.Bytes;

    /// <summary>Core thread: publishers may write where was taken. A full fence, as a look at who waits for room follows.</summary>
    public void Release() => Interlocked.Exchange(ref _at.Head, Next);

    private static int PlaceBytes(int payloadBytes) => (HeaderBytes + payloadBytes + Granule - 1) & -Granule;

    private int Lap(long position) => (int)(position >> _lapShift) + 1;

    private void WriteHeader(int offset, int bytes, int source, int payloadBytes)
    {
        ref byte header = ref _bytes[offset];
        Unsafe.WriteUnaligned(ref header, bytes);
        Unsafe.WriteUnaligned(ref Unsafe.Add(ref header, 4), source);
        Unsafe.WriteUnaligned(ref Unsafe.Add(ref header, 8), payloadBytes);
    }

    private void Commit(long position) =>
        Interlocked.Exchange(ref _committed[((int)position & (_capacity - 1)) / Granule], Lap(position));

    // Each on cache lines of its own, two at least apart, as the prefetcher fetches pairs; and all apart from what is only read.
    [StructLayout(LayoutKind.Explicit, Size = 768)]
    private struct Cursors
    {
        [FieldOffset(128)]
        public long Tail;

        // Written by whichever publisher looked last; older than the head or equal, whoever wins.
        [FieldOffset(256)]
        public long HeadSeen;

        [FieldOffset(384)]
        public long Head;

        // The core thread's own, written with each message.
        [FieldOffset(512)]
        public long Next;

        // Reasons for which gates send their topics' messages past the lane. Read with each publish, written when one has to wait.
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
internal readonly ref struct LaneMessage(long position, int bytes, int source, ReadOnlySpan<byte> payload)
{
    public long Position { get; } = position;

    /// <summary>Bytes of its place, header and padding included.</summary>
    public int Bytes { get; } = bytes;

    /// <summary>The endpoint that published it, by its number at the intake.</summary>
    public int Source { get; } = source;

    public ReadOnlySpan<byte> Payload { get; } = payload;
}
