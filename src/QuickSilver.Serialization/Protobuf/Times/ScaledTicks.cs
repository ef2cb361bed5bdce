using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace QuickSilver.Serialization.Protobuf.Times;

// A span of time in the coarsest unit that is exact: the message that protobuf-net writes for TimeSpan and DateTime. Reading is in
// ScaledTicks.Reading.cs.
internal readonly partial struct ScaledTicks
{
    private const uint ValueTag = (1 << 3) | ProtobufWireType.Varint;
    private const uint ScaleTag = (2 << 3) | ProtobufWireType.Varint;
    private const uint KindTag = (3 << 3) | ProtobufWireType.Varint;
    private const uint OffsetMinutesTag = (4 << 3) | ProtobufWireType.Varint;

    private const int Days = 0;
    private const int Hours = 1;
    private const int Minutes = 2;
    private const int Seconds = 3;
    private const int Milliseconds = 4;
    private const int Ticks = 5;
    // The extremes have no exact value in any unit of the original's; it names them instead.
    private const int Extreme = 15;
    private const long MinExtreme = -1;
    private const long MaxExtreme = 1;

    private const int ScaleBytes = 2;
    // Of all there may be, and where words of eight bytes are stored: tag, length; value, scale and offset with their tags.
    private const int MaxBytes = 5 + 1 + (1 + Varint.MaxBytes) + ScaleBytes + (1 + Varint.MaxBytes);
    private const long MaxTicksSinceEpoch = 3_155_378_975_999_999_999 - 621_355_968_000_000_000;

    // DateTimeOffset's own bound: fourteen hours either way.
    private const int MaxOffsetMinutes = 14 * 60;

    // Inverses modulo 2^64 of the odd parts, for TryDivide.
    private const ulong TenThousandth = 0xD288CE703AFB7E91;
    private const ulong Thousandth = 0x1CAC083126E978D5;
    private const ulong Sixtieth = 0xEEEEEEEEEEEEEEEF;
    private const ulong TwentyFourth = 0xAAAAAAAAAAAAAAAB;

    private readonly long _value;
    private readonly int _scale;
    private readonly int _kind;
    private readonly int _offsetMinutes;

    private ScaledTicks(long value, int scale, int kind = 0, int offsetMinutes = 0)
    {
        _value = value;
        _scale = scale;
        _kind = kind;
        _offsetMinutes = offsetMinutes;
    }

    public int Size
    {
        get
        {
            int size = _value == 0 ? 0 : 1 + ProtobufSize.SInt64(_value);
            size += _scale == Days ? 0 : 2;
            size += _offsetMinutes == 0 ? 0 : 1 + ProtobufSize.SInt64(_offsetMinutes);
            return 1 + size;
        }
    }

    public static ScaledTicks Of(TimeSpan value)
    {
        if (value == TimeSpan.MaxValue)
        {
            return new ScaledTicks(MaxExtreme, Extreme);
        }

        if (value == TimeSpan.MinValue)
        {
            return new ScaledTicks(MinExtreme, Extreme);
        }

        ulong count = (ulong)Math.Abs(value.Ticks);
        int scale = ToCoarsest(ref count);
        return new ScaledTicks(value.Ticks < 0 ? -(long)count : (long)count, scale);
    }

    // From fine to coarse, as each unit is a multiple of the one before.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static int ToCoarsest(ref ulong count)
    {
        if (!TryDivide(ref count, TenThousandth, 4, TimeSpan.TicksPerMillisecond))
        {
            return Ticks;
        }

        return !TryDivide(ref count, Thousandth, 3, 1000) ? Milliseconds
            : !TryDivide(ref count, Sixtieth, 2, 60) ? Seconds
            : !TryDivide(ref count, Sixtieth, 2, 60) ? Minutes
            : !TryDivide(ref count, TwentyFourth, 3, 24) ? Hours
            : Days;
    }

    public static ScaledTicks Of(DateTime value)
    {
        if (value == DateTime.MaxValue)
        {
            return new ScaledTicks(MaxExtreme, Extreme);
        }

        return value == DateTime.MinValue
            ? new ScaledTicks(MinExtreme, Extreme)
            : Of(TimeSpan.FromTicks(value.Ticks - DateTime.UnixEpoch.Ticks));
    }

    public static ScaledTicks Of(DateTimeOffset value)
    {
        var instant = Of(value.UtcDateTime);
        return new ScaledTicks(instant._value, instant._scale, 0, (int)(value.Offset.Ticks / TimeSpan.TicksPerMinute));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static nint Write(ref byte destination, nint room, uint tag, TimeSpan value) =>
        Of(value).Write(ref destination, room, tag);

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static nint Write(ref byte destination, nint room, uint tag, DateTime value)
    {
        // Neither extreme, and room for all of it: what nearly all have.
        if (room < MaxBytes || (ulong)value.Ticks - 1 >= (ulong)DateTime.MaxValue.Ticks - 1)
        {
            return Of(value).Write(ref destination, room, tag);
        }

        int tagBytes = tag < 0x80 ? 1 : Varint.Write(ref destination, tag);
        destination = tagBytes == 1 ? (byte)tag : destination;
        ref byte at = ref Unsafe.Add(ref destination, tagBytes);
        long ticks = value.Ticks - DateTime.UnixEpoch.Ticks;
        ulong count = (ulong)Math.Abs(ticks);
        int scale = ToCoarsest(ref count);
        // Zigzag: a count below zero is written as one less than its double.
        ulong written = (count << 1) - ((ulong)ticks >> 63);
        // Minutes, seconds, milliseconds and ticks of our days: where their bytes are foretold, what comes next need not wait for
        // the divisions.
        if (scale != Days && written >= 1 << 21)
        {
            if (written < 1UL << 28)
            {
                return tagBytes + WriteSized(ref at, written, 4, scale);
            }

            if (written < 1UL << 35)
            {
                return tagBytes + WriteSized(ref at, written, 5, scale);
            }

            if (written is >= 1UL << 35 and < 1UL << 42)
            {
                return tagBytes + WriteSized(ref at, written, 6, scale);
            }

            if (written is >= 1UL << 49 and < 1UL << 56)
            {
                return tagBytes + WriteSized(ref at, written, 8, scale);
            }
        }

        return tagBytes + Write(ref at, written, scale, offsetMinutes: 0);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static nint Write(ref byte destination, nint room, uint tag, DateTimeOffset value) =>
        Of(value).Write(ref destination, room, tag);

    private nint Write(ref byte destination, nint room, uint tag)
    {
        if (room >= MaxBytes)
        {
            int tagBytes = Varint.Write(ref destination, tag);
            return tagBytes + Write(ref Unsafe.Add(ref destination, tagBytes));
        }

        Span<byte> bytes = stackalloc byte[MaxBytes];
        bytes = bytes[..(int)Write(ref MemoryMarshal.GetReference(bytes), MaxBytes, tag)];
        if (!bytes.TryCopyTo(MemoryMarshal.CreateSpan(ref destination, (int)room)))
        {
            ProtobufWriter.ThrowTooSmall();
        }

        return bytes.Length;
    }

    // A value of so many bytes, and its scale.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static int WriteSized(ref byte destination, ulong value, int bytes, int scale)
    {
        Unsafe.WriteUnaligned(ref destination, LittleEndian.Of((ushort)((1 + bytes + ScaleBytes) | (ValueTag << 8))));
        ulong word = Varint.Spread(value) | (Varint.ContinueBitsOfShorter >> (8 * (sizeof(ulong) - bytes)));
        Unsafe.WriteUnaligned(ref Unsafe.Add(ref destination, 2), LittleEndian.Of(word));
        Unsafe.WriteUnaligned(ref Unsafe.Add(ref destination, 2 + bytes), LittleEndian.Of((ushort)(ScaleTag | ((uint)scale << 8))));
        return 2 + bytes + ScaleBytes;
    }

    // Where there is room for all of it.
    private int Write(ref byte destination) =>
        Write(ref destination, ProtobufSize.ZigZag(_value), _scale, _offsetMinutes);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static int Write(ref byte destination, ulong value, int scale, int offsetMinutes)
    {
        int end = 1;
        if (value != 0)
        {
            Unsafe.Add(ref destination, 1) = (byte)ValueTag;
            end = 2 + Varint.Write(ref Unsafe.Add(ref destination, 2), value);
        }

        if (scale != Days)
        {
            Unsafe.Add(ref destination, end) = (byte)ScaleTag;
            Unsafe.Add(ref destination, end + 1) = (byte)scale;
            end += 2;
        }

        if (offsetMinutes != 0)
        {
            Unsafe.Add(ref destination, end) = (byte)OffsetMinutesTag;
            end += 1 + Varint.Write(ref Unsafe.Add(ref destination, end + 1), ProtobufSize.ZigZag(offsetMinutes));
        }

        destination = (byte)(end - 1);
        return end;
    }

    // By a number that is its odd part times a power of two. A multiple of the odd part, times the inverse of that modulo 2^64, is
    // the quotient; anything else is larger than any quotient can be, and so is what has lower bits that the rotation brings up.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static bool TryDivide(ref ulong count, ulong inverseOfOdd, int twos, ulong by)
    {
        ulong quotient = BitOperations.RotateRight(count * inverseOfOdd, twos);
        if (quotient > ulong.MaxValue / by)
        {
            return false;
        }

        count = quotient;
        return true;
    }
}
