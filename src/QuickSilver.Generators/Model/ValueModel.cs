namespace QuickSilver.Generators.Model;

internal enum ValueKind
{
    Int32,
    Int64,
    UInt32,
    UInt64,
    Int16,
    UInt16,
    Byte,
    SByte,
    Char,
    Bool,
    Single,
    Double,
    String,
    Bytes,
    Memory,
    Decimal,
    Guid,
    DateTime,
    DateTimeOffset,
    TimeSpan,
    Int128,
    UInt128,
    Message,
}

// A .NET type that becomes another one, for which protobuf has a word, and is made from it.
internal enum Conversion
{
    None,
    DateOnly,
    TimeOnly,
    Half,
    Uri,
}

// One value on the wire. For an enum, Kind is its underlying type's and IsEnum says that casts are needed. With a Conversion, Kind is
// that of what the value is converted to.
internal sealed record ValueModel(ValueKind Kind, string TypeName, string Word, bool IsReference, bool IsEnum)
{
    private const int Varint = 0;
    private const int Fixed64 = 1;
    private const int LengthDelimited = 2;
    private const int Fixed32 = 5;

    public int WireType => Kind switch
    {
        ValueKind.Single => Fixed32,
        ValueKind.Double => Fixed64,
        <= ValueKind.Bool => Varint,
        _ => LengthDelimited,
    };

    public Conversion Conversion { get; init; }

    public bool IsConverted => Conversion != Conversion.None;

    public bool IsPackable => WireType != LengthDelimited;

    public bool IsMessage => Kind == ValueKind.Message;

    // The fixed width in bytes, or 0.
    public int Width => Kind switch
    {
        ValueKind.Bool => 1,
        ValueKind.Single => 4,
        ValueKind.Double => 8,
        _ => 0,
    };
}
