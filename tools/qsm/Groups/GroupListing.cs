using System.Text.Json;
using System.Text.Json.Serialization;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Tool.Catalog;

namespace QuickSilver.Tool.Groups;

// A process group as the membership service knows it. What scripts read: the names are never renamed.
internal sealed record GroupListing(string Group, string Type, string Keeps, int Members)
{
    private const string Guarantee = "Group";
    private const string ToolMark = "tool=";
    private const string NoMembers = "no members";

    /// <summary>Whether at most one node of a cluster is to hold what the group keeps.</summary>
    [JsonIgnore]
    public bool NeedsOneService => Keeps is "lock" or "leader";

    /// <summary>The members, if the group was asked for by name.</summary>
    public IReadOnlyList<MemberListing>? Nodes { get; init; }

    public static bool IsGroup(ListedTopicMessage topic) => topic.Contract.Guarantee == Guarantee;

    public static GroupListing Of(ListedTopicMessage topic) => new(
        topic.Name, topic.Contract.TypeName, KeepsOf(topic.Contract.Parameters), topic.Subscribers);

    public static GroupListing Of(TopicContracts contracts, NodeNames names)
    {
        // Nodes that only send have versions of their own.
        ListedTopicMessage[] ofMembers = [.. contracts.Versions.Where(static version => !version.Contract.Parameters.IsAny)];
        return Of(ofMembers.Length > 0 ? ofMembers[0] : contracts.Versions[0]) with
        {
            Nodes =
            [
                .. ofMembers.SelectMany(static version => version.Holders).Distinct()
                    .Select(node => new MemberListing(node.ToString(), names.NameOf(node))),
            ],
        };
    }

    public string ToJson() => JsonSerializer.Serialize(this, GroupJson.Default.GroupListing);

    // The parameters of the contract, as members write them.
    private static string KeepsOf(ContractParameters parameters)
    {
        if (parameters.IsAny)
        {
            return NoMembers;
        }

        string[] words = parameters.ToString().Split(' ');
        return Array.Find(words, static word => word.StartsWith(ToolMark, StringComparison.Ordinal)) is { } tool
            ? SafeText.Of(tool[ToolMark.Length..])
            : words.Contains("state=1") ? "state" : "messages";
    }
}

// A node without a name has its id as the name.
internal sealed record MemberListing(string Node, string Name);

[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase, DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(GroupListing))]
internal sealed partial class GroupJson : JsonSerializerContext;
