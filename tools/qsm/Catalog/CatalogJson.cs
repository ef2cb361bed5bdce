using System.Text.Json;
using System.Text.Json.Serialization;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Protocol.Replies;

namespace QuickSilver.Tool.Catalog;

// What scripts read: the names are never renamed.
internal sealed record TopicJson(
    string Topic, string Type, string Kind, string Guarantee, int Publishers, int Subscribers, int Versions)
{
    public static TopicJson Of(ListedTopicMessage topic) => new(
        topic.Name, topic.Contract.TypeName, topic.Contract.Kind, topic.Contract.Guarantee, topic.Publishers, topic.Subscribers,
        topic.Versions);

    public string ToJson() => JsonSerializer.Serialize(this, CatalogJson.Default.TopicJson);
}

internal sealed record NodeJson
{
    public required string Node { get; init; }
    public required string Address { get; init; }
    public required string State { get; init; }
    public double? SilentSeconds { get; init; }
    public long? Topics { get; init; }
    public long? Regions { get; init; }
    public string? Trouble { get; init; }

    /// <summary>Null of a node of an earlier version, as all that follows.</summary>
    public string? Name { get; init; }
    public string? Machine { get; init; }
    public string? Process { get; init; }
    public int? ProcessId { get; init; }
    public string? Version { get; init; }

    public string ToJson() => JsonSerializer.Serialize(this, CatalogJson.Default.NodeJson);
}

internal sealed record TopicDescriptionJson(
    string Topic, string Guarantee, string? Parameters, bool IsPinned, int Publishers, int Subscribers,
    IReadOnlyList<VersionJson> Versions)
{
    public static TopicDescriptionJson Of(TopicContracts contracts, NodeNames? names = null)
    {
        var first = contracts.Versions[0];
        return new TopicDescriptionJson(
            contracts.Name, first.Contract.Guarantee,
            first.Contract.Parameters.IsEmpty ? null : first.Contract.Parameters.ToString(),
            first.Contract.IsPinned, first.Publishers, first.Subscribers,
            [.. contracts.Versions.Select(one => new VersionJson(
                one.Contract.TypeName,
                one.Contract.Kind,
                one.Nodes,
                one.Holders.IsEmpty ? null : [.. one.Holders.Select(static node => node.ToString())],
                one.Holders.IsEmpty || names is null ? null : [.. one.Holders.Select(names.NameOf)],
                [.. one.Contract.Fields.Select(FieldJson.Of)],
                [.. one.Contract.Nested.Select(static nested => new MessageJson(nested.Name, [.. nested.Fields.Select(FieldJson.Of)]))],
                one.Contract.Enums.IsEmpty ? null : [.. one.Contract.Enums.Select(EnumJson.Of)]))]);
    }

    public string ToJson() => JsonSerializer.Serialize(this, CatalogJson.Default.TopicDescriptionJson);
}

// NodeIds: of as many as the service names. NodeNames: of the same nodes in the same order; the id of one that has no name. Null on the
// page of the dashboard, which has the names already.
internal sealed record VersionJson(
    string Type, string Kind, int Nodes, IReadOnlyList<string>? NodeIds, IReadOnlyList<string>? NodeNames,
    IReadOnlyList<FieldJson> Fields, IReadOnlyList<MessageJson> Messages, IReadOnlyList<EnumJson>? Enums);

internal sealed record MessageJson(string Name, IReadOnlyList<FieldJson> Fields);

// Message: 0 is the payload itself, n the n-th of the messages. Enum: the n-th of the enums, from 0. What is not known is left out.
internal sealed record FieldJson(
    int Number, string Name, string Type, int? Message, bool? Nullable, string? LogicalType, string? LogicalKeyType, int? Enum)
{
    public static FieldJson Of(ContractField field) => new(
        field.Number, field.Name, field.Type, field.Message, field.IsNullable, field.LogicalType, field.LogicalKeyType, field.Enum);
}

internal sealed record EnumJson(string Name, bool IsFlags, IReadOnlyList<EnumValueJson> Values)
{
    public static EnumJson Of(ContractEnum one) =>
        new(one.Name, one.IsFlags, [.. one.Values.Select(static value => new EnumValueJson(value.Name, value.Number))]);
}

internal sealed record EnumValueJson(string Name, long Number);

[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase, DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(TopicJson))]
[JsonSerializable(typeof(NodeJson))]
[JsonSerializable(typeof(TopicDescriptionJson))]
internal sealed partial class CatalogJson : JsonSerializerContext;
