using System.Text.Json;
using System.Text.Json.Serialization;

namespace QuickSilver.Tool.Etcd;

// The gateway writes the error of a plain request as text, and that of a stream as an object with its words in "message".
internal sealed class EtcdErrorText : JsonConverter<string?>
{
    public override string? Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) =>
        reader.TokenType == JsonTokenType.String
            ? reader.GetString()
            : JsonSerializer.Deserialize(ref reader, EtcdJson.Default.EtcdStreamError)?.Message
                ?? throw new JsonException("The error has no message.");

    public override void Write(Utf8JsonWriter writer, string? value, JsonSerializerOptions options) => writer.WriteStringValue(value);
}
