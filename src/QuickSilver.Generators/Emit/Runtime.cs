namespace QuickSilver.Generators.Emit;

// The namespaces of what generated code uses. All but the first are hidden from completion lists.
internal static class Runtime
{
    public const string Codecs = "global::QuickSilver.Serialization.";
    public const string Protobuf = "global::QuickSilver.Serialization.Protobuf.";
    public const string Parts = Protobuf + "MessageParts";
    public const string Generated = "global::QuickSilver.Serialization.Generated.";
}
