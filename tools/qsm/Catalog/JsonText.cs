using System.Buffers;
using System.Text.Json;

namespace QuickSilver.Tool.Catalog;

// JSON of a payload as a line for people: Flight="UA 412" Gate=7 Legs=[{From="ORD"} {From="SFO"}]. Strings keep their escapes, so a line is
// one line, and nothing in it controls a terminal.
internal static class JsonText
{
    public static void Write(ReadOnlySpan<byte> json, ArrayBufferWriter<byte> into)
    {
        var reader = new Utf8JsonReader(json, new JsonReaderOptions { MaxDepth = 1000 });
        bool isFirst = true;
        while (reader.Read())
        {
            bool isEnd = reader.TokenType is JsonTokenType.EndArray or JsonTokenType.EndObject;
            if (!isFirst && !isEnd)
            {
                into.Write(" "u8);
            }

            // No space behind a name and behind what opens.
            isFirst = reader.TokenType is JsonTokenType.PropertyName or JsonTokenType.StartArray or JsonTokenType.StartObject;
            switch (reader.TokenType)
            {
                case JsonTokenType.PropertyName:
                    into.Write(reader.ValueSpan);
                    into.Write("="u8);
                    break;
                case JsonTokenType.String:
                    into.Write("\""u8);
                    into.Write(reader.ValueSpan);
                    into.Write("\""u8);
                    break;
                // The payload itself has no braces.
                case JsonTokenType.StartObject or JsonTokenType.EndObject when reader.CurrentDepth == 0:
                    break;
                default:
                    into.Write(reader.ValueSpan);
                    break;
            }
        }
    }
}
