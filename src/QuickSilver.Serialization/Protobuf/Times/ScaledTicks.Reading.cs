using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace QuickSilver.Serialization.Protobuf.Times;

// Reading: first as nearly all times are written, then any.
internal readonly partial struct ScaledTicks
{
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

    /// <summary>A time as nearly all are written, and within DateTime's range.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool TryReadUsual(ReadOnlySpan<byte> source, out DateTime time)
    {
        if (TryReadUsual(source, out ulong value, out int scale) && value <= MaxValue(scale))
        {
            ulong ticks = (ulong)(DateTime.UnixEpoch.Ticks + (ProtobufSize.UnZigZag(value) * TicksPer(scale)));
            if (ticks <= (ulong)DateTime.MaxValue.Ticks)
            {
                time = new DateTime((long)ticks);
                return true;
            }
        }

        time = default;
        return false;
    }

    // A value of two to eight bytes and its scale, or three bytes of days, which have none: nearly all times there are.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static bool TryReadUsual(ReadOnlySpan<byte> source, out ulong value, out int scale)
    {
        ref byte first = ref MemoryMarshal.GetReference(source);
        int valueBytes = source.Length - 1 - ScaleBytes;
        ulong word;
        if (source.Length > sizeof(ulong))
        {
            word = LittleEndian.Of(Unsafe.ReadUnaligned<ulong>(ref Unsafe.Add(ref first, 1)));
        }
        else if (source.Length > sizeof(uint))
        {
            // Two halves that may overlap: nothing beyond the span is read.
            int second = source.Length - sizeof(uint);
            word = LittleEndian.Of(Unsafe.ReadUnaligned<uint>(ref first))
                | ((ulong)LittleEndian.Of(Unsafe.ReadUnaligned<uint>(ref Unsafe.Add(ref first, second))) << (8 * second));
            word >>= 8;
        }
        else
        {
            return TryReadDays(source, out value, out scale);
        }

        int unused = 8 * (sizeof(ulong) - valueBytes);
        uint scaleField = LittleEndian.Of(Unsafe.ReadUnaligned<ushort>(ref Unsafe.Add(ref first, 1 + valueBytes)));
        value = Varint.Gather(word, Varint.ValueBits >> unused);
        scale = (int)(scaleField >> 8);
        // All of its bytes but the last have the continuation bit.
        return first == ValueTag && (byte)scaleField == ScaleTag && (uint)(scale - 1) < Ticks && (uint)unused < 64
            && (word & (Varint.ContinueBits >> unused)) == Varint.ContinueBitsOfShorter >> unused;
    }

    private static bool TryReadDays(ReadOnlySpan<byte> source, out ulong value, out int scale)
    {
        value = 0;
        scale = Days;
        if (source.Length != sizeof(uint))
        {
            return false;
        }

        uint word = LittleEndian.Of(Unsafe.ReadUnaligned<uint>(ref MemoryMarshal.GetReference(source)));
        value = Varint.Gather(word >> 8, 0x7F7F7F);
        return (word & 0x808080FF) == (0x00808000 | ValueTag);
    }

    // The greatest zigzag value that may be multiplied by the ticks of its scale.
    private static ulong MaxValue(int scale)
    {
        ReadOnlySpan<ulong> values =
        [
            long.MaxValue / TimeSpan.TicksPerDay,
            long.MaxValue / TimeSpan.TicksPerHour,
            long.MaxValue / TimeSpan.TicksPerMinute,
            long.MaxValue / TimeSpan.TicksPerSecond,
            long.MaxValue / TimeSpan.TicksPerMillisecond,
            long.MaxValue,
        ];
        return values[scale];
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
