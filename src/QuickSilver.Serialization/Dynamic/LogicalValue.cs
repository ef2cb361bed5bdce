using System.Globalization;

namespace QuickSilver.Serialization.Dynamic;

// How a whole number on the wire is shown, where the schema says what it is in .NET: an enum by its name, a date as a date. What has no
// such text is shown as the number, and numbers are read as well. Each text is read as the number that it was made of.
internal sealed class LogicalValue
{
    private const string DateFormat = "yyyy-MM-dd";
    private const string TimeFormat = "HH:mm:ss.FFFFFFF";

    private readonly string? _word;
    private readonly DynamicEnum? _enum;
    private readonly (long Least, long Greatest)? _range;

    private LogicalValue(string? word, DynamicEnum? of, (long Least, long Greatest)? range)
    {
        _word = word;
        _enum = of;
        _range = range;
    }

    /// <summary>Null where the value is shown as its protobuf type says. A schema is not trusted to name a type that fits.</summary>
    public static LogicalValue? Of(string? word, DynamicEnum? of, ValueForm form)
    {
        if (form is not (ValueForm.Int32 or ValueForm.Int64 or ValueForm.UInt32 or ValueForm.UInt64))
        {
            return null;
        }

        (long Least, long Greatest)? range = (word, form) switch
        {
            (LogicalType.SByte, ValueForm.Int32) => (sbyte.MinValue, sbyte.MaxValue),
            (LogicalType.Byte, ValueForm.UInt32) => (byte.MinValue, byte.MaxValue),
            (LogicalType.Int16, ValueForm.Int32) => (short.MinValue, short.MaxValue),
            (LogicalType.UInt16, ValueForm.UInt32) => (ushort.MinValue, ushort.MaxValue),
            (LogicalType.Char, ValueForm.UInt32) => (char.MinValue, char.MaxValue),
            (LogicalType.DateOnly, ValueForm.Int32) => (0, DateOnly.MaxValue.DayNumber),
            (LogicalType.TimeOnly, ValueForm.Int64) => (0, TimeOnly.MaxValue.Ticks),
            _ => null,
        };
        return range is null && of is null ? null : new LogicalValue(range is null ? null : word, of, range);
    }

    /// <summary>Dates and times of day in lists are written one by one, as other protobuf libraries for .NET read them.</summary>
    public bool IsPackable => _word is not (LogicalType.DateOnly or LogicalType.TimeOnly);

    /// <summary>The text; null if the value is shown as a number.</summary>
    public string? ToText(long value)
    {
        if (_enum is not null)
        {
            return _enum.NameOf(value);
        }

        var culture = CultureInfo.InvariantCulture;
        return _range is { } range && value >= range.Least && value <= range.Greatest
            ? _word switch
            {
                LogicalType.Char when !char.IsSurrogate((char)value) => ((char)value).ToString(),
                LogicalType.DateOnly => DateOnly.FromDayNumber((int)value).ToString(DateFormat, culture),
                LogicalType.TimeOnly => new TimeOnly(value).ToString(TimeFormat, culture),
                _ => null,
            }
            : null;
    }

    /// <summary>Reads what <see cref="ToText"/> writes. A number is not read here.</summary>
    public bool TryParse(string text, out long value)
    {
        value = 0;
        if (_enum is not null)
        {
            return _enum.TryParse(text, out value);
        }

        var culture = CultureInfo.InvariantCulture;
        switch (_word)
        {
            case LogicalType.Char when text.Length == 1:
                value = text[0];
                return true;
            case LogicalType.DateOnly when DateOnly.TryParseExact(text, DateFormat, culture, DateTimeStyles.None, out var date):
                value = date.DayNumber;
                return true;
            case LogicalType.TimeOnly when text.Contains(':') && TimeOnly.TryParse(text, culture, out var time):
                value = time.Ticks;
                return true;
            default:
                return false;
        }
    }

    /// <summary>Whether a number of the protobuf type is one of the .NET type.</summary>
    public bool Accepts(string number) => _range is not { } range
        || !long.TryParse(number, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out long value)
        || (value >= range.Least && value <= range.Greatest);

    /// <summary>What is expected instead of this text.</summary>
    public string Expected(string wrong) => _enum?.Expected(wrong) ?? _word switch
    {
        LogicalType.Char => "a string of one character (char)",
        LogicalType.DateOnly => "a string such as \"2026-01-31\" (DateOnly)",
        LogicalType.TimeOnly => "a string such as \"12:30:15.5\" (TimeOnly)",
        _ => $"a whole number from {_range!.Value.Least} to {_range.Value.Greatest} ({_word})",
    };
}
