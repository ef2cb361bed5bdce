using System.Reflection;

namespace QuickSilver;

// An option by its full key, as configuration and failures name it: one in a group follows the group's name and a colon.
internal sealed record OptionKey(string Name, PropertyInfo Property, PropertyInfo? Group)
{
    public static IReadOnlyList<OptionKey> All { get; } =
    [
        .. typeof(QuickSilverOptions).GetProperties()
            .Where(static one => !IsGroup(one.PropertyType))
            .Select(static one => new OptionKey(one.Name, one, null)),
        .. Of(
            nameof(QuickSilverOptions.Security),
            typeof(SecurityOptions).GetProperties(BindingFlags.Public | BindingFlags.Instance)),
        .. Of(nameof(QuickSilverOptions.Service), typeof(EmbeddedServiceOptions).GetProperties()),
        .. Of(nameof(QuickSilverOptions.Limits), typeof(NodeLimits).GetProperties()),
    ];

    public void Set(QuickSilverOptions options, object value) => Property.SetValue(OwnerIn(options), value);

    public object? Get(QuickSilverOptions options) => Property.GetValue(OwnerIn(options));

    private object? OwnerIn(QuickSilverOptions options) => Group is null ? options : Group.GetValue(options);

    private static bool IsGroup(Type type) =>
        type == typeof(SecurityOptions) || type == typeof(EmbeddedServiceOptions) || type == typeof(NodeLimits);

    // What only a program can give, such as its own rules, is no key.
    private static IEnumerable<OptionKey> Of(string group, PropertyInfo[] properties)
    {
        var owner = typeof(QuickSilverOptions).GetProperty(group);
        return properties
            .Where(static one => !one.PropertyType.IsInterface)
            .Select(one => new OptionKey($"{group}:{one.Name}", one, owner));
    }
}
