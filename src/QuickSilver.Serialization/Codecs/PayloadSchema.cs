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

    /// <summary>
    /// The .NET type of the value, or of a collection's elements, where <see cref="Type"/> does not say it: one of
    /// <see cref="LogicalType"/>. Null (default): what <see cref="Type"/> says, or not known. For display.
    /// </summary>
    public string? LogicalType { get; init; }

    /// <summary>As <see cref="LogicalType"/>, for the keys of a map. For display.</summary>
    public string? LogicalKeyType { get; init; }

    /// <summary>The enum that the value is, by its index in <see cref="PayloadSchema.Enums"/>. Null (default): none. For display.</summary>
    public int? Enum { get; init; }

    /// <summary>Whether the member may be null. Null (default): not known. For display.</summary>
    public bool? IsNullable { get; init; }
}

/// <summary>A message type that a payload contains.</summary>
/// <param name="Name">The name, for display. Types with different names match if their fields match.</param>
/// <param name="Fields">The fields, in ascending order of their numbers.</param>
public sealed record PayloadMessage(string Name, ImmutableArray<PayloadField> Fields);

/// <summary>An enum type that a payload contains, for display: endpoints are not matched by it.</summary>
/// <param name="Name">The name of the type.</param>
/// <param name="Values">The values, in the order of their declaration.</param>
public sealed record PayloadEnum(string Name, ImmutableArray<PayloadEnumValue> Values)
{
    /// <summary>Whether a value is a combination of the values that have names.</summary>
    public bool IsFlags { get; init; }
}

/// <summary>A value of an enum.</summary>
/// <param name="Name">The name.</param>
/// <param name="Number">The number. Of an enum of 64 bits without a sign: the same bits with a sign.</param>
public readonly record struct PayloadEnumValue(string Name, long Number);

/// <summary>
/// The schema that all endpoints of a topic must agree on. A field is identified by the path of field numbers that leads to it. Schemas
/// match if the fields that both have are of the same type. Either may lack fields of the other, and names may differ. Two messages that
/// have fields must share at least one. Enums, logical types and nullability are for display: tools show payloads by them, and no endpoint
/// is refused because of them.
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

    /// <summary>The maximum number of enums that a schema describes. If there are more, no endpoint registers data for display.</summary>
    public const int MaxEnums = 256;

    /// <summary>The maximum number of values of all enums. If there are more, an endpoint registers no enums.</summary>
    public const int MaxEnumValues = 2048;

    /// <summary>The enums within the payload, each once. For display.</summary>
    public ImmutableArray<PayloadEnum> Enums { get; init; } = [];
}
