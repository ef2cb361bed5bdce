using System.Reflection;

namespace QuickSilver.Hosting.Configuration;

// A key below the section of a node: "Limits:BufferBytes", "Hosting:DrainLimit", "Topics:*:ReaderCapacity". A star stands for the name of
// a topic.
internal sealed record ConfigurationKey(string Name, PropertyInfo Property);

// All keys that configuration may have. The schema and the page about configuration are written from them, too.
internal static class ConfigurationKeys
{
    public const string Hosting = "Hosting";
    public const string Topics = "Topics";
    public const string AnyTopic = "*";

    public static IReadOnlyList<ConfigurationKey> OfNode { get; } =
        [.. OptionKey.All.Select(static option => new ConfigurationKey(option.Name, option.Property))];

    public static IReadOnlyList<ConfigurationKey> OfHosting { get; } =
    [
        .. typeof(QuickSilverHostingOptions).GetProperties()
            .Select(static property => new ConfigurationKey($"{Hosting}:{property.Name}", property)),
    ];

    public static IReadOnlyList<ConfigurationKey> OfTopics { get; } =
    [
        .. typeof(TopicOptions).GetProperties()
            .Select(static property => new ConfigurationKey($"{Topics}:{AnyTopic}:{property.Name}", property)),
    ];

    public static IReadOnlyList<ConfigurationKey> All { get; } = [.. OfNode, .. OfHosting, .. OfTopics];
}
