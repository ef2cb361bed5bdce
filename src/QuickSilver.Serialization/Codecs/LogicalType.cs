namespace QuickSilver.Serialization;

/// <summary>
/// The .NET types that share a protobuf type with another one, as <see cref="PayloadField.LogicalType"/> names them. Words that a tool
/// does not know are shown as the protobuf type says.
/// </summary>
public static class LogicalType
{
    /// <summary>A <see cref="sbyte"/>, as int32.</summary>
    public const string SByte = "sbyte";

    /// <summary>A <see cref="byte"/>, as uint32.</summary>
    public const string Byte = "byte";

    /// <summary>A <see cref="short"/>, as int32.</summary>
    public const string Int16 = "int16";

    /// <summary>A <see cref="ushort"/>, as uint32.</summary>
    public const string UInt16 = "uint16";

    /// <summary>A <see cref="char"/>, as uint32: its UTF-16 code.</summary>
    public const string Char = "char";

    /// <summary>A <see cref="System.Half"/>, as float.</summary>
    public const string Half = "half";

    /// <summary>A <see cref="System.DateOnly"/>, as int32: days since January 1, 0001.</summary>
    public const string DateOnly = "dateOnly";

    /// <summary>A <see cref="System.TimeOnly"/>, as int64: ticks since midnight.</summary>
    public const string TimeOnly = "timeOnly";

    /// <summary>A <see cref="System.Uri"/>, as string.</summary>
    public const string Uri = "uri";

    /// <summary>
    /// A subtype, as message: its base is the message that has the field. A value has exactly one of its fields of this kind, or none if it
    /// is of the base itself.
    /// </summary>
    public const string Subtype = "subtype";
}
