using System.ComponentModel;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Serialization.Generated;

/// <summary>
/// .NET types from those that stand for them on the wire: a date is the number of its day, a time of day its ticks (both as protobuf-net
/// writes them), a Half the float of the same value, and a Uri its original text. What is none is malformed.
/// </summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public static class ProtobufConversions
{
    /// <summary>What stands for a Uri that did not come: an empty relative one.</summary>
    public static Uri NoUri { get; } = new("", UriKind.Relative);

    /// <summary>The date of that day, counted from 0001-01-01.</summary>
    public static DateOnly ToDateOnly(int day) =>
        DateOnly.FromDayNumber((int)ProtobufReader.InRange(day, DateOnly.MinValue.DayNumber, DateOnly.MaxValue.DayNumber));

    /// <summary>The time after so many ticks of a day.</summary>
    public static TimeOnly ToTimeOnly(long ticks) =>
        new(ProtobufReader.InRange(ticks, TimeOnly.MinValue.Ticks, TimeOnly.MaxValue.Ticks));

    /// <summary>The Half of that value, which must have it exactly.</summary>
    public static Half ToHalf(float value)
    {
        var half = (Half)value;
        if ((float)half != value && !float.IsNaN(value))
        {
            ProtobufReader.ThrowMalformed($"{value:R} is not a value of {nameof(Half)}");
        }

        return half;
    }

    /// <summary>An absolute or relative Uri.</summary>
    public static Uri ToUri(string text)
    {
        if (text.Length == 0)
        {
            return NoUri;
        }

        if (!Uri.TryCreate(text, UriKind.RelativeOrAbsolute, out var uri))
        {
            ProtobufReader.ThrowMalformed($"'{(text.Length > 64 ? text[..64] + "…" : text)}' is not a URI");
        }

        return uri!;
    }
}
