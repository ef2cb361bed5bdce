using System.ComponentModel;
using System.Globalization;
using System.Net;
using System.Reflection;
using Microsoft.Extensions.Configuration;

namespace QuickSilver.Hosting;

// The configuration binder cannot convert addresses and networks and ignores them silently, so they are read here. It also ignores unknown
// names, and a misspelled option would go unnoticed, so unknown names are refused.
internal static class OptionsBinding
{
    private static readonly string[] Groups = [nameof(QuickSilverOptions.Service), nameof(QuickSilverOptions.Limits)];

    public static void Bind(IConfiguration section, QuickSilverOptions options)
    {
        // A whole configuration, unlike a section, also contains keys that are not QuickSilver's.
        if (section is IConfigurationSection)
        {
            CheckNames(section);
        }

        try
        {
            section.Bind(options);
        }
        catch (InvalidOperationException cause) when (Unreadable(section) is { Length: > 0 } failures)
        {
            throw new QuickSilverOptionsException(failures, cause);
        }

        options.Interface = Read<NodeInterface>(
            section, nameof(options.Interface), "an IPv4 address, the name of an interface, a subnet such as 10.0.0.0/8, or auto")
            ?? options.Interface;
        string network = $"{nameof(options.Service)}:{nameof(options.Service.MulticastNetwork)}";
        if (section[network] is not null)
        {
            options.Service.MulticastNetwork = Read<IPNetwork>(section, network, "an IPv4 network, such as 239.192.0.0/14");
        }
    }

    private static void CheckNames(IConfiguration section)
    {
        string[] failures = [.. Unknown(section, ""), .. Groups.SelectMany(group => Unknown(section.GetSection(group), group + ":"))];
        if (failures.Length > 0)
        {
            throw new QuickSilverOptionsException(failures);
        }
    }

    // Of the options themselves, and of each group.
    private static IEnumerable<string> Unknown(IConfiguration section, string group)
    {
        string[] known =
        [
            .. OptionKey.All.Select(static option => option.Name)
                .Where(name => name.StartsWith(group, StringComparison.Ordinal))
                .Select(name => name[group.Length..].Split(':')[0])
                .Distinct()
                .Order(),
        ];
        return section.GetChildren().Select(static child => child.Key)
            .Where(key => !known.Contains(key, StringComparer.OrdinalIgnoreCase))
            .Select(key => $"Unknown option '{group}{key}' in the configuration. Valid options: {string.Join(", ", known)}.");
    }

    // The binder's exception names one option only, and not its valid values.
    private static string[] Unreadable(IConfiguration section) =>
    [
        .. OptionKey.All
            .Where(static option => !IsReadHere(option.Property.PropertyType))
            .Where(option => section[option.Name] is { } text && !CanRead(option.Property, text))
            .Select(option => $"The option {option.Name} is \"{section[option.Name]}\". Allowed: {OptionRules.Allowed(option)}."),
    ];

    private static bool IsReadHere(Type type) => type == typeof(NodeInterface) || type == typeof(IPNetwork);

    private static bool CanRead(PropertyInfo property, string text)
    {
        try
        {
            TypeDescriptor.GetConverter(property.PropertyType).ConvertFromInvariantString(text);
            return true;
        }
        catch (Exception failure) when (failure is FormatException or ArgumentException or OverflowException or NotSupportedException)
        {
            return false;
        }
    }

    private static T? Read<T>(IConfiguration section, string option, string allowed)
        where T : IParsable<T>
    {
        if (section[option] is not { } text)
        {
            return default;
        }

        return T.TryParse(text, CultureInfo.InvariantCulture, out var value)
            ? value
            : throw new QuickSilverOptionsException([$"The option {option} is \"{text}\". Allowed: {allowed}."]);
    }
}
