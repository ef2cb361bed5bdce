namespace QuickSilver.Serialization.Dynamic;

internal enum FieldShape
{
    Single,
    Repeated,
    Map,
}

internal enum ValueForm
{
    // A word that is not known here: a codec of an application may have words of its own.
    Unknown,
    Int32,
    Int64,
    UInt32,
    UInt64,
    SInt32,
    SInt64,
    Fixed32,
    Fixed64,
    SFixed32,
    SFixed64,
    Bool,
    Float,
    Double,
    String,
    Bytes,
    Decimal,
    Guid,
    DateTime,
    DateTimeOffset,
    TimeSpan,
    Int128,
    UInt128,
    Message,
}

// What the word of a field's type means: "int32", "repeated message", "map<string, bcl.Guid>".
internal readonly record struct FieldForm(FieldShape Shape, ValueForm Value, ValueForm Key = ValueForm.Unknown)
{
    private const string Repeated = "repeated ";
    private const string Map = "map<";
    private const string Condition = " [";
    private const string Wrapped = "null wrapped";

    private static readonly Dictionary<string, ValueForm> Words = new(StringComparer.Ordinal)
    {
        ["int32"] = ValueForm.Int32,
        ["int64"] = ValueForm.Int64,
        ["uint32"] = ValueForm.UInt32,
        ["uint64"] = ValueForm.UInt64,
        ["sint32"] = ValueForm.SInt32,
        ["sint64"] = ValueForm.SInt64,
        ["fixed32"] = ValueForm.Fixed32,
        ["fixed64"] = ValueForm.Fixed64,
        ["sfixed32"] = ValueForm.SFixed32,
        ["sfixed64"] = ValueForm.SFixed64,
        ["bool"] = ValueForm.Bool,
        ["float"] = ValueForm.Float,
        ["double"] = ValueForm.Double,
        ["string"] = ValueForm.String,
        ["bytes"] = ValueForm.Bytes,
        ["bcl.Decimal"] = ValueForm.Decimal,
        ["bcl.Guid"] = ValueForm.Guid,
        ["bcl.DateTime"] = ValueForm.DateTime,
        ["bcl.DateTimeOffset"] = ValueForm.DateTimeOffset,
        ["bcl.TimeSpan"] = ValueForm.TimeSpan,
        ["int128"] = ValueForm.Int128,
        ["uint128"] = ValueForm.UInt128,
        ["message"] = ValueForm.Message,
    };

    public static FieldForm Of(string word)
    {
        // When a value is sent, which its bytes do not show. But a wrapped one is a message.
        if (word.IndexOf(Condition, StringComparison.Ordinal) is > 0 and var end)
        {
            return word.Contains(Wrapped, StringComparison.Ordinal)
                ? new FieldForm(FieldShape.Repeated, ValueForm.Unknown)
                : Of(word[..end]);
        }

        if (word.StartsWith(Repeated, StringComparison.Ordinal))
        {
            return new FieldForm(FieldShape.Repeated, ValueOf(word[Repeated.Length..]));
        }

        if (word.StartsWith(Map, StringComparison.Ordinal) && word.EndsWith('>') && word.IndexOf(',') is > 0 and var comma)
        {
            var key = ValueOf(word[Map.Length..comma]);
            return IsKey(key)
                ? new FieldForm(FieldShape.Map, ValueOf(word[(comma + 1)..^1].Trim()), key)
                : new FieldForm(FieldShape.Repeated, ValueForm.Unknown);
        }

        return new FieldForm(FieldShape.Single, ValueOf(word));
    }

    /// <summary>Whether the word says when a value is sent. What did not come is then not known to be the default of its type.</summary>
    public static bool IsConditional(string word) => word.Contains(Condition, StringComparison.Ordinal);

    /// <summary>The wire type of one value; of an unknown form, none.</summary>
    public static uint? WireType(ValueForm value) => value switch
    {
        ValueForm.Unknown => null,
        ValueForm.Float or ValueForm.Fixed32 or ValueForm.SFixed32 => Protobuf.ProtobufWireType.Fixed32,
        ValueForm.Double or ValueForm.Fixed64 or ValueForm.SFixed64 => Protobuf.ProtobufWireType.Fixed64,
        <= ValueForm.Bool => Protobuf.ProtobufWireType.Varint,
        _ => Protobuf.ProtobufWireType.LengthDelimited,
    };

    /// <summary>Whether a field of this form can have a value of this wire type; one that has another is skipped.</summary>
    public bool Accepts(uint wireType) => Shape switch
    {
        FieldShape.Map => wireType == Protobuf.ProtobufWireType.LengthDelimited,
        _ when WireType(Value) is null => wireType is not Protobuf.ProtobufWireType.StartGroup,
        FieldShape.Repeated when IsPackable(Value) && wireType == Protobuf.ProtobufWireType.LengthDelimited => true,
        _ => WireType(Value) == wireType,
    };

    public static bool IsPackable(ValueForm value) => value is > ValueForm.Unknown and <= ValueForm.Double;

    private static bool IsKey(ValueForm key) => key is > ValueForm.Unknown and <= ValueForm.Bool or ValueForm.String;

    private static ValueForm ValueOf(string word) => Words.GetValueOrDefault(word);
}
