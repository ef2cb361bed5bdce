using QuickSilver.Serialization;

namespace QuickSilver.Inboxes;

// The schema of several payloads that belong to one topic, so that all its endpoints agree on all of them: those of requests and replies,
// or of keys and values. Each becomes a field of one message.
internal static class JoinedSchema
{
    public static PayloadSchema Of(string kind, params ReadOnlySpan<(string Name, PayloadSchema Schema)> parts)
    {
        var fields = new List<PayloadField>();
        var nested = new List<PayloadMessage>();
        var enums = new List<PayloadEnum>();
        var types = new List<string>();
        foreach (var (name, schema) in parts)
        {
            types.Add(schema.TypeName);
            if (schema.Kind != PayloadSchema.MessageKind)
            {
                fields.Add(new PayloadField(fields.Count + 1, name, schema.Kind));
                continue;
            }

            // Message 0 of the part becomes message first of the whole, and its nested messages follow. Its enums follow those before.
            int first = nested.Count + 1;
            int firstEnum = enums.Count;
            enums.AddRange(schema.Enums);
            fields.Add(new PayloadField(fields.Count + 1, name, PayloadSchema.MessageKind) { Message = first });
            nested.Add(new PayloadMessage(schema.TypeName, [.. schema.Fields.Select(field => Moved(field, first, firstEnum))]));
            nested.AddRange(schema.Nested.Select(
                message => message with { Fields = [.. message.Fields.Select(field => Moved(field, first, firstEnum))] }));
        }

        return new PayloadSchema($"{kind}({string.Join(", ", types)})", kind, [.. fields])
        {
            Nested = [.. nested],
            Enums = [.. enums],
        };
    }

    private static PayloadField Moved(PayloadField field, int messages, int enums) =>
        field with { Message = field.Message + messages, Enum = field.Enum + enums };
}
