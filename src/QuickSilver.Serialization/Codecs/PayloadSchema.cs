using System.Collections.Immutable;

namespace QuickSilver.Serialization;

/// <summary>One field of a message.</summary>
/// <param name="Number">Its number on the wire, 1 to 536,870,911; no two fields of one message have the same.</param>
/// <param name="Name">Its name.</param>
/// <param name="Type">
/// Its type in protobuf's words: "int32", "repeated string", "map&lt;string, int32&gt;"; a nested message is "message", whatever
/// its name: "message", "repeated message", "map&lt;string, message&gt;".
/// </param>
public sealed record PayloadField(int Number, string Name, string Type)
{
    /// <summary>
    /// The nested message that it holds: 0 is the payload itself, n is the n-th of <see cref="PayloadSchema.Nested"/>. Null, the
    /// default, where it holds none or one that is not described; such a field is compared by <see cref="Type"/> alone.
    /// </summary>
    public int? Message { get; init; }
}

/// <summary>A message type that a payload holds.</summary>
/// <param name="Name">Its name, for people: types of two names match where their fields do.</param>
/// <param name="Fields">Its fields in the order of their numbers.</param>
public sealed record PayloadMessage(string Name, ImmutableArray<PayloadField> Fields);

/// <summary>
/// What endpoints of one topic must agree on about its payload. A field is found by the numbers of the fields around it and by its
/// own. Endpoints match where the fields that both have are of one type; either may lack fields of the other, and names may differ.
/// Two messages that have fields must have one in common.
/// </summary>
/// <param name="TypeName">The payload's type, for people.</param>
/// <param name="Kind">Its family: <see cref="BytesKind"/>, <see cref="StringKind"/> or <see cref="MessageKind"/>.</param>
/// <param name="Fields">A message's own fields in the order of their numbers.</param>
public sealed record PayloadSchema(string TypeName, string Kind, ImmutableArray<PayloadField> Fields)
{
    /// <summary>Plain bytes, whose meaning is the application's.</summary>
    public const string BytesKind = "bytes";

    /// <summary>UTF-8 text.</summary>
    public const string StringKind = "string";

    /// <summary>A protobuf message.</summary>
    public const string MessageKind = "message";

    /// <summary>The most fields of a payload and all messages in it. A topic with more cannot be opened.</summary>
    public const int MaxFields = 4096;

    /// <summary>The most message types within a payload. A topic with more cannot be opened.</summary>
    public const int MaxNested = 512;

    /// <summary>
    /// The message types within the payload, each once, however often it occurs; one that holds itself refers to itself.
    /// </summary>
    public ImmutableArray<PayloadMessage> Nested { get; init; } = [];
}
