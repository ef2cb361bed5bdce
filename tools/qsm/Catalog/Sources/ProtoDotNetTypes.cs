using QuickSilver.Serialization.Dynamic;

namespace QuickSilver.Tool.Catalog.Sources;

// The messages as which .NET types are written that protobuf has no words for.
internal static class ProtoDotNetTypes
{
    private const string Span = """
          sint64 value = 1;
          // The unit of the value: 0 days, 1 hours, 2 minutes, 3 seconds, 4 milliseconds, 5 ticks of 100 ns, 15 the least or the greatest.
          int32 scale = 2;

        """;

    public static IReadOnlyList<string> Names { get; } =
        ["DotNetDecimal", "DotNetGuid", "DotNetDateTime", "DotNetDateTimeOffset", "DotNetTimeSpan"];

    public static string? NameOf(ValueForm form) => form switch
    {
        ValueForm.Decimal => "DotNetDecimal",
        ValueForm.Guid => "DotNetGuid",
        ValueForm.DateTime => "DotNetDateTime",
        ValueForm.DateTimeOffset => "DotNetDateTimeOffset",
        ValueForm.TimeSpan => "DotNetTimeSpan",
        _ => null,
    };

    public static string TextOf(string name) => name switch
    {
        "DotNetDecimal" => "// A decimal: the 96 bits of its digits, twice its scale, and 1 if it is negative.\n"
            + "message DotNetDecimal {\n  uint64 lo = 1;\n  uint32 hi = 2;\n  uint32 sign_scale = 3;\n}\n",
        "DotNetGuid" => "// A Guid: the 16 bytes of Guid.ToByteArray.\nmessage DotNetGuid {\n  fixed64 lo = 1;\n  fixed64 hi = 2;\n}\n",
        "DotNetDateTime" => $"// A time since January 1, 1970.\nmessage DotNetDateTime {{\n{Span}  int32 kind = 3;\n}}\n",
        "DotNetDateTimeOffset" => "// The instant in UTC, since January 1, 1970, and the offset of the local time in minutes.\n"
            + $"message DotNetDateTimeOffset {{\n{Span}  int32 kind = 3;\n  sint32 offset_minutes = 4;\n}}\n",
        _ => $"// A length of time.\nmessage DotNetTimeSpan {{\n{Span}}}\n",
    };
}
