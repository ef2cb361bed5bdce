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

    // A message that is a declared subtype of the type that has the member.
    public bool IsSubtype { get; init; }

    // The names of an enum's values; null for another type.
    public EnumModel? Enum { get; init; }

    // What the schema calls the .NET type, where the word of protobuf is another type's too. Of an enum, its underlying type.
    public string? LogicalType => IsSubtype ? "subtype" : Conversion switch
    {
        Conversion.DateOnly => "dateOnly",
        Conversion.TimeOnly => "timeOnly",
        Conversion.Half => "half",
        Conversion.Uri => "uri",
        _ => Kind switch
        {
            ValueKind.SByte => "sbyte",
            ValueKind.Byte => "byte",
            ValueKind.Int16 => "int16",
            ValueKind.UInt16 => "uint16",
            ValueKind.Char => "char",
            _ => null,
        },
    };

    public bool IsConverted => Conversion != Conversion.None;

    // Readers take packed and unpacked values alike.
    public bool IsPackable => WireType != LengthDelimited;

    // protobuf-net does not pack dates and times of day, and does not read packed ones.
    public bool IsPacked => IsPackable && Conversion is not (Conversion.DateOnly or Conversion.TimeOnly);

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
