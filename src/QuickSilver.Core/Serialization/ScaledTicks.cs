using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace QuickSilver.Core.Serialization;

// A span of time in the coarsest unit that is exact: the message that protobuf-net writes for TimeSpan and DateTime.
internal readonly struct ScaledTicks
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

        long count = value.Ticks;
        int scale = ToCoarsest(ref count);
        return new ScaledTicks(count, scale);
    }

    // Unsigned, which divides by a constant in fewer steps. From fine to coarse, as each unit is a multiple of the one before.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static int ToCoarsest(ref long ticks)
    {
        ulong count = (ulong)(ticks < 0 ? -ticks : ticks);
        int scale = Ticks;
        if (TryDivide(ref count, TimeSpan.TicksPerMillisecond))
        {
            scale = !TryDivide(ref count, 1000) ? Milliseconds
                : !TryDivide(ref count, 60) ? Seconds
                : !TryDivide(ref count, 60) ? Minutes
                : !TryDivide(ref count, 24) ? Hours
                : Days;
        }

        ticks = ticks < 0 ? -(long)count : (long)count;
        return scale;
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
        long count = value.Ticks - DateTime.UnixEpoch.Ticks;
        int scale = ToCoarsest(ref count);
        ulong written = ProtobufSize.ZigZag(count);
        // Minutes, and ticks, of our days: where their bytes are foretold, what comes next need not wait for the divisions.
        if (scale != Days && written is >= 1 << 21 and < 1 << 28)
        {
            return tagBytes + WriteSized(ref at, written, 4, scale);
        }

        if (scale != Days && written is >= 1UL << 49 and < 1UL << 56)
        {
            return tagBytes + WriteSized(ref at, written, 8, scale);
        }

        return tagBytes + Write(ref at, written, scale, offsetMinutes: 0);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static nint Write(ref byte destination, nint room, uint tag, DateTimeOffset value) =>
        Of(value).Write(ref destination, room, tag);

    public static ScaledTicks Read(ReadOnlySpan<byte> source)
    {
        var found = TryReadUsual(source, out ulong value, out int scale)
            ? new ScaledTicks(ProtobufSize.UnZigZag(value), scale)
            : ReadFields(source);
        bool known = found._scale is >= Days and <= Ticks || (found._scale == Extreme && found._value is MinExtreme or MaxExtreme);
        if (!known || found._kind is < 0 or > (int)DateTimeKind.Local
            || found._offsetMinutes is < -MaxOffsetMinutes or > MaxOffsetMinutes)
        {
            ProtobufReader.ThrowMalformed("a time has an unknown scale, kind or offset");
        }

        return found;
    }

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

    // Where there is room for all of it.
    // A value of so many bytes, and its scale.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static int WriteSized(ref byte destination, ulong value, int bytes, int scale)
    {
        Unsafe.WriteUnaligned(ref destination, LittleEndian.Of((ushort)((1 + bytes + ScaleBytes) | (ValueTag << 8))));
        Unsafe.WriteUnaligned(ref Unsafe.Add(ref destination, 2), LittleEndian.Of(Varint.ToWord(value, out _)));
        Unsafe.WriteUnaligned(ref Unsafe.Add(ref destination, 2 + bytes), LittleEndian.Of((ushort)(ScaleTag | ((uint)scale << 8))));
        return 2 + bytes + ScaleBytes;
    }

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

    /// <summary>A time as nearly all are written, and within DateTime's range.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool TryReadUsual(ReadOnlySpan<byte> source, out DateTime time)
    {
        if (TryReadUsual(source, out ulong value, out int scale) && scale <= Ticks)
        {
            long high = Math.BigMul(ProtobufSize.UnZigZag(value), TicksPer(scale), out long ticks);
            if (high == ticks >> 63 && ticks >= -DateTime.UnixEpoch.Ticks && ticks <= MaxTicksSinceEpoch)
            {
                time = new DateTime(DateTime.UnixEpoch.Ticks + ticks);
                return true;
            }
        }

        time = default;
        return false;
    }

    // A value and its scale, or a value of days, in up to eight bytes, or a value of eight bytes and its scale: nearly all
    // times there are.
    private static bool TryReadUsual(ReadOnlySpan<byte> source, out ulong value, out int scale)
    {
        ref byte first = ref MemoryMarshal.GetReference(source);
        value = 0;
        scale = Days;
        ulong word;
        if (source.Length is >= sizeof(uint) and <= sizeof(ulong))
        {
            // Two halves that may overlap: nothing beyond the span is read.
            int second = source.Length - sizeof(uint);
            word = LittleEndian.Of(Unsafe.ReadUnaligned<uint>(ref first))
                | ((ulong)LittleEndian.Of(Unsafe.ReadUnaligned<uint>(ref Unsafe.Add(ref first, second))) << (8 * second));
            word >>= 8;
        }
        else if (source.Length == 1 + sizeof(ulong) + ScaleBytes)
        {
            word = LittleEndian.Of(Unsafe.ReadUnaligned<ulong>(ref Unsafe.Add(ref first, 1)));
        }
        else
        {
            return false;
        }

        ulong ends = Varint.Ends(word);
        if (first != ValueTag || ends == 0)
        {
            return false;
        }

        int left = source.Length - 1 - Varint.Bytes(ends);
        value = Varint.Value(word, ends);
        if (left != ScaleBytes)
        {
            return left == 0;
        }

        scale = source[^1];
        return source[^2] == ScaleTag && scale < 0x80;
    }

    private static ScaledTicks ReadFields(ReadOnlySpan<byte> source)
    {
        var reader = new ProtobufReader(source);
        long value = 0;
        int scale = Days;
        int kind = 0;
        long offsetMinutes = 0;
        while (reader.TryReadTag(out uint tag))
        {
            switch (tag)
            {
                case ValueTag:
                    value = reader.ReadSInt64();
                    break;
                case ScaleTag:
                    scale = reader.ReadInt32();
                    break;
                case KindTag:
                    kind = reader.ReadInt32();
                    break;
                case OffsetMinutesTag:
                    offsetMinutes = reader.ReadSInt64();
                    break;
                default:
                    reader.Skip(tag);
                    break;
            }
        }

        return new ScaledTicks(value, scale, kind, (int)Math.Clamp(offsetMinutes, int.MinValue, int.MaxValue));
    }

    public TimeSpan ToTimeSpan()
    {
        if (_scale == Extreme)
        {
            return _value == MaxExtreme ? TimeSpan.MaxValue : TimeSpan.MinValue;
        }

        if (!TryGetTicks(out long ticks))
        {
            ProtobufReader.ThrowMalformed("a time span is out of range");
        }

        return TimeSpan.FromTicks(ticks);
    }

    public DateTime ToDateTime()
    {
        var kind = (DateTimeKind)_kind;
        if (_scale == Extreme)
        {
            return DateTime.SpecifyKind(_value == MaxExtreme ? DateTime.MaxValue : DateTime.MinValue, kind);
        }

        // DateTime.MinValue is 0 ticks.
        if (!TryGetTicks(out long ticks) || ticks < -DateTime.UnixEpoch.Ticks || ticks > MaxTicksSinceEpoch)
        {
            ProtobufReader.ThrowMalformed("a date is out of range");
        }

        return new DateTime(DateTime.UnixEpoch.Ticks + ticks, kind);
    }

    public DateTimeOffset ToDateTimeOffset()
    {
        var offset = TimeSpan.FromMinutes(_offsetMinutes);
        long localTicks = ToDateTime().Ticks + offset.Ticks;
        if (localTicks < DateTime.MinValue.Ticks || localTicks > DateTime.MaxValue.Ticks)
        {
            ProtobufReader.ThrowMalformed("a date is out of range at its offset");
        }

        return new DateTimeOffset(localTicks, offset);
    }

    private bool TryGetTicks(out long ticks)
    {
        long high = Math.BigMul(_value, TicksPer(_scale), out ticks);
        return high == ticks >> 63;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static bool TryDivide(ref ulong count, ulong by)
    {
        ulong quotient = count / by;
        if (quotient * by != count)
        {
            return false;
        }

        count = quotient;
        return true;
    }

    private static long TicksPer(int scale)
    {
        ReadOnlySpan<long> ticks =
        [
            TimeSpan.TicksPerDay,
            TimeSpan.TicksPerHour,
            TimeSpan.TicksPerMinute,
            TimeSpan.TicksPerSecond,
            TimeSpan.TicksPerMillisecond,
            1,
        ];
        return ticks[scale];
    }
}
