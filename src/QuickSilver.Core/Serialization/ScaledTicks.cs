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

    // DateTimeOffset's own bound: fourteen hours either way.
    private const long MaxOffsetMinutes = 14 * 60;

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

        for (int scale = Days; scale < Ticks; scale++)
        {
            if (value.Ticks % TicksPer(scale) == 0)
            {
                return new ScaledTicks(value.Ticks / TicksPer(scale), scale);
            }
        }

        return new ScaledTicks(value.Ticks, Ticks);
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

    public void Write(ref ProtobufWriter writer)
    {
        int start = writer.BeginLength();
        if (_value != 0)
        {
            writer.WriteTag(ValueTag);
            writer.WriteSInt64(_value);
        }

        if (_scale != Days)
        {
            writer.WriteTag(ScaleTag);
            writer.WriteInt32(_scale);
        }

        if (_offsetMinutes != 0)
        {
            writer.WriteTag(OffsetMinutesTag);
            writer.WriteSInt64(_offsetMinutes);
        }

        writer.EndLength(start);
    }

    public static ScaledTicks Read(ref ProtobufReader source)
    {
        var reader = source.ReadPacked();
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

        bool known = scale is >= Days and <= Ticks || (scale == Extreme && value is MinExtreme or MaxExtreme);
        if (!known || kind is < 0 or > (int)DateTimeKind.Local || offsetMinutes is < -MaxOffsetMinutes or > MaxOffsetMinutes)
        {
            ProtobufReader.ThrowMalformed("a time has an unknown scale, kind or offset");
        }

        return new ScaledTicks(value, scale, kind, (int)offsetMinutes);
    }

    public TimeSpan ToTimeSpan()
    {
        if (_scale == Extreme)
        {
            return _value == MaxExtreme ? TimeSpan.MaxValue : TimeSpan.MinValue;
        }

        Int128 ticks = (Int128)_value * TicksPer(_scale);
        if (ticks < long.MinValue || ticks > long.MaxValue)
        {
            ProtobufReader.ThrowMalformed("a time span is out of range");
        }

        return TimeSpan.FromTicks((long)ticks);
    }

    public DateTime ToDateTime()
    {
        var kind = (DateTimeKind)_kind;
        if (_scale == Extreme)
        {
            return DateTime.SpecifyKind(_value == MaxExtreme ? DateTime.MaxValue : DateTime.MinValue, kind);
        }

        Int128 ticks = ((Int128)_value * TicksPer(_scale)) + DateTime.UnixEpoch.Ticks;
        if (ticks < DateTime.MinValue.Ticks || ticks > DateTime.MaxValue.Ticks)
        {
            ProtobufReader.ThrowMalformed("a date is out of range");
        }

        return new DateTime((long)ticks, kind);
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

    private static long TicksPer(int scale) => scale switch
    {
        Days => TimeSpan.TicksPerDay,
        Hours => TimeSpan.TicksPerHour,
        Minutes => TimeSpan.TicksPerMinute,
        Seconds => TimeSpan.TicksPerSecond,
        Milliseconds => TimeSpan.TicksPerMillisecond,
        _ => 1,
    };
}
