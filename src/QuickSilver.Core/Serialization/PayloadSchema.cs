using System.Collections.Immutable;

namespace QuickSilver.Core.Serialization;

/// <summary>One field of a payload.</summary>
/// <param name="Number">Its number on the wire.</param>
/// <param name="Name">Its name; a nested message's fields have dotted names ("Legs.From").</param>
/// <param name="Type">Its type as a word: "int32", "string", "repeated Leg", "map&lt;string, int32&gt;".</param>
public sealed record PayloadField(int Number, string Name, string Type);

/// <summary>What endpoints of one topic must agree on about its payload.</summary>
/// <param name="TypeName">The payload's type.</param>
/// <param name="Kind">Its family: <see cref="BytesKind"/>, <see cref="StringKind"/> or <see cref="MessageKind"/>.</param>
/// <param name="Fields">
/// A message's fields in the order of their numbers, each nested message's after the field that holds it. A type that holds
/// itself is described once per path, and no more than <see cref="MaxFields"/> fields are listed.
/// </param>
public sealed record PayloadSchema(string TypeName, string Kind, ImmutableArray<PayloadField> Fields)
{
    /// <summary>Plain bytes, whose meaning is the application's.</summary>
    public const string BytesKind = "bytes";

    /// <summary>UTF-8 text.</summary>
    public const string StringKind = "string";

    /// <summary>A protobuf message.</summary>
    public const string MessageKind = "message";

    /// <summary>The most fields that a schema lists: it travels in a control message, which must stay small.</summary>
    public const int MaxFields = 1024;
}
