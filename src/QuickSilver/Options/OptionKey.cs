using System.Collections.Immutable;
using System.Reflection;

namespace QuickSilver;

// An option by its full key, as configuration and failures name it: one in a group follows the group's name and a colon.
internal sealed record OptionKey(string Name, PropertyInfo Property, ImmutableArray<PropertyInfo> Groups)
{
    private static readonly Type[] GroupTypes =
        [typeof(MembershipOptions), typeof(EmbeddedServiceOptions), typeof(SecurityOptions), typeof(NodeLimits)];

    private static readonly PropertyInfo Membership = typeof(QuickSilverOptions).GetProperty(nameof(QuickSilverOptions.Membership))!;
    private static readonly PropertyInfo Hosted = typeof(MembershipOptions).GetProperty(nameof(MembershipOptions.Hosted))!;
    private static readonly PropertyInfo Security = typeof(QuickSilverOptions).GetProperty(nameof(QuickSilverOptions.Security))!;
    private static readonly PropertyInfo Limits = typeof(QuickSilverOptions).GetProperty(nameof(QuickSilverOptions.Limits))!;

    public static IReadOnlyList<OptionKey> All { get; } =
    [
        .. Of(typeof(QuickSilverOptions).GetProperties()),
        .. Of(typeof(MembershipOptions).GetProperties(), Membership),
        .. Of(typeof(EmbeddedServiceOptions).GetProperties(), Membership, Hosted),
        .. Of(typeof(SecurityOptions).GetProperties(BindingFlags.Public | BindingFlags.Instance), Security),
        .. Of(typeof(NodeLimits).GetProperties(), Limits),
    ];

    /// <summary>Whether the option is several texts, each with a key of its own.</summary>
    public bool IsList => IsListType(Property.PropertyType);

    public static bool IsListType(Type type) => type == typeof(IList<string>);

    public void Set(QuickSilverOptions options, object value) => Property.SetValue(OwnerIn(options), value);

    public object? Get(QuickSilverOptions options) => Property.GetValue(OwnerIn(options));

    private object OwnerIn(QuickSilverOptions options) =>
        Groups.Aggregate((object)options, static (owner, group) => group.GetValue(owner)!);

    // What only a program can give, such as its own rules, is no key.
    private static IEnumerable<OptionKey> Of(PropertyInfo[] properties, params ImmutableArray<PropertyInfo> groups)
    {
        string prefix = string.Concat(groups.Select(static one => $"{one.Name}:"));
        return properties
            .Where(static one => !GroupTypes.Contains(one.PropertyType))
            .Where(static one => !one.PropertyType.IsInterface || IsListType(one.PropertyType))
            .Select(one => new OptionKey($"{prefix}{one.Name}", one, groups));
    }
}
