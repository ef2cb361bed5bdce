namespace QuickSilver.Serialization.Protobuf;

// The low three bits of a tag: how to find the end of a field that one does not know.
internal static class ProtobufWireType
{
    public const uint Varint = 0;
    public const uint Fixed64 = 1;
    public const uint LengthDelimited = 2;
    public const uint StartGroup = 3;
    public const uint EndGroup = 4;
    public const uint Fixed32 = 5;
}
