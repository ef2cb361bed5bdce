using System.Collections.Immutable;

namespace QuickSilver.Serialization;

/// <summary>A field of a message.</summary>
/// <param name="Number">The field number, 1 to 536,870,911, unique within the message.</param>
/// <param name="Name">The name of the field.</param>
/// <param name="Type">
/// The protobuf type: "int32", "repeated string", "map&lt;string, int32&gt;". A nested message is "message", whatever its name: "message",
/// "repeated message", "map&lt;string, message&gt;".
/// </param>
public sealed record PayloadField(int Number, string Name, string Type)
{
    /// <summary>
    /// The nested message that the field contains: 0 is the payload itself, n is the n-th entry of <see cref="PayloadSchema.Nested"/>. Null
    /// (default) if it contains none, or one that is not described. Such a field is compared by <see cref="Type"/> only.
    /// </summary>
    public int? Message { get; init; }
}

/// <summary>A message type that a payload contains.</summary>
/// <param name="Name">The name, for display. Types with different names match if their fields match.</param>
/// <param name="Fields">The fields, in ascending order of their numbers.</param>
public sealed record PayloadMessage(string Name, ImmutableArray<PayloadField> Fields);

/// <summary>
/// The schema that all endpoints of a topic must agree on. A field is identified by the path of field numbers that leads to it. Schemas
/// match if the fields that both have are of the same type. Either may lack fields of the other, and names may differ. Two messages that
/// have fields must share at least one.
/// </summary>
/// <param name="TypeName">The name of the payload's type, for display.</param>
/// <param name="Kind">The kind of payload: <see cref="BytesKind"/>, <see cref="StringKind"/> or <see cref="MessageKind"/>.</param>
/// <param name="Fields">The fields of the message itself, in ascending order of their numbers.</param>
public sealed record PayloadSchema(string TypeName, string Kind, ImmutableArray<PayloadField> Fields)
{
    /// <summary>Plain bytes, which the application interprets.</summary>
    public const string BytesKind = "bytes";

    /// <summary>UTF-8 text.</summary>
    public const string StringKind = "string";

    /// <summary>A protobuf message.</summary>
    public const string MessageKind = "message";

    /// <summary>The maximum number of fields of a payload with all its nested messages. A topic with more cannot be opened.</summary>
    public const int MaxFields = 4096;

    /// <summary>The maximum number of message types within a payload. A topic with more cannot be opened.</summary>
    public const int MaxNested = 512;

    /// <summary>The message types within the payload, each once. A type that contains itself refers to itself.</summary>
    public ImmutableArray<PayloadMessage> Nested { get; init; } = [];
}
