using System.Globalization;
using System.Net;

namespace QuickSilver.Hosting.Configuration;

// The value of an option from its text in configuration.
internal static class OptionValue
{
    /// <summary>
    /// Null if the text is not a value of the type. The fault then says what is allowed, and is empty if only the rules of the option do.
    /// </summary>
    public static object? Read(Type type, string text, out string? fault)
    {
        var plain = Nullable.GetUnderlyingType(type) ?? type;
        object? value = plain switch
        {
            _ when plain == typeof(string) => text,
            _ when plain == typeof(bool) => Parse<bool>(text),
            _ when plain == typeof(int) => Parse<int>(text),
            _ when plain == typeof(long) => Parse<long>(text),
            _ when plain == typeof(TimeSpan) => Parse<TimeSpan>(text),
            _ when plain == typeof(IPNetwork) => Parse<IPNetwork>(text),
            _ when plain == typeof(NodeInterface) => NodeInterface.Read(text, out _),
            _ when plain.IsEnum => Enum.TryParse(plain, text, ignoreCase: true, out object? named) ? named : null,
            _ => throw new NotSupportedException($"Options of the type {type} cannot be read from configuration."),
        };
        fault = value is not null ? null
            : plain == typeof(IPNetwork) ? "a network, such as 239.192.0.0/14"
            : plain == typeof(NodeInterface) ? "an address, the name of an interface, a subnet such as 10.0.0.0/8, or auto"
            : "";
        return value;
    }

    /// <summary>The form of the values of a type, for options whose rules do not say it.</summary>
    public static string Allowed(Type type)
    {
        var plain = Nullable.GetUnderlyingType(type) ?? type;
        return plain switch
        {
            _ when plain == typeof(bool) => "true or false",
            _ when plain == typeof(TimeSpan) => "a time in days, hours, minutes and seconds, such as 00:00:05 or 1.00:00:00",
            _ when plain.IsEnum => Or(Enum.GetNames(plain)),
            _ => "a whole number",
        };
    }

    private static string Or(string[] names) => names is [.. var first, var last] && first.Length > 0
        ? $"{string.Join(", ", first)} or {last}"
        : string.Join("", names);

    private static object? Parse<T>(string text)
        where T : struct, IParsable<T> => T.TryParse(text, CultureInfo.InvariantCulture, out var value) ? value : null;
}
