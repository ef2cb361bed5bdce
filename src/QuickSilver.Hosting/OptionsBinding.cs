using System.ComponentModel;
using System.Net;
using System.Reflection;
using Microsoft.Extensions.Configuration;

namespace QuickSilver.Hosting;

// The configuration binder cannot convert addresses and ignores them silently, so they are read here. It also ignores unknown names,
// and a misspelled option would go unnoticed, so unknown names are refused.
internal static class OptionsBinding
{
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

        options.Interface = ReadAddress(section, nameof(options.Interface)) ?? options.Interface;
        options.MulticastBase = ReadAddress(section, nameof(options.MulticastBase)) ?? options.MulticastBase;
    }

    private static void CheckNames(IConfiguration section)
    {
        string[] known = [.. typeof(QuickSilverOptions).GetProperties().Select(property => property.Name).Order()];
        string[] failures = [.. section.GetChildren().Select(child => child.Key)
            .Where(key => !known.Contains(key, StringComparer.OrdinalIgnoreCase))
            .Select(key => $"Unknown option '{key}' in the configuration. Valid options: {string.Join(", ", known)}.")];
        if (failures.Length > 0)
        {
            throw new QuickSilverOptionsException(failures);
        }
    }

    // The binder's exception names one option only, and not its valid values.
    private static string[] Unreadable(IConfiguration section) =>
    [
        .. typeof(QuickSilverOptions).GetProperties()
            .Where(property => property.PropertyType != typeof(IPAddress) && section[property.Name] is { } text && !CanRead(property, text))
            .Select(property => $"The option {property.Name} is \"{section[property.Name]}\". Allowed: {OptionRules.Allowed(property)}."),
    ];

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

    private static IPAddress? ReadAddress(IConfiguration section, string option)
    {
        if (section[option] is not { } text)
        {
            return null;
        }

        return IPAddress.TryParse(text, out var address)
            ? address
            : throw new QuickSilverOptionsException([$"The option {option} is \"{text}\". Allowed: an IPv4 address, such as 192.0.2.1."]);
    }
}
