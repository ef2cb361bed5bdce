using System.Globalization;

namespace QuickSilver;

// What is wrong with options: each failure is a sentence that names the option, its value and what is allowed.
internal static class OptionFailures
{
    public const string AllowedIs = ". Allowed: ";

    public static void Within<T>(List<string> failures, string option, T value, T least, T most)
        where T : IComparable<T>
    {
        if (value.CompareTo(least) < 0 || value.CompareTo(most) > 0)
        {
            Add(failures, option, Show(value), $"{Show(least)} to {Show(most)}");
        }
    }

    /// <summary>One of these values, or one that the type names.</summary>
    public static void OneOf<T>(List<string> failures, string option, T value, params T[] allowed)
        where T : struct, Enum
    {
        T[] all = allowed.Length > 0 ? allowed : Enum.GetValues<T>();
        if (!all.Contains(value))
        {
            Add(failures, option, value, string.Join(", ", all));
        }
    }

    public static void Add(List<string> failures, string option, object? value, string allowed) =>
        failures.Add($"The option {option} is {value ?? "null"}{AllowedIs}{allowed}.");

    /// <exception cref="QuickSilverOptionsException">There is one.</exception>
    public static void ThrowIfAny(IReadOnlyList<string> failures)
    {
        if (failures.Count > 0)
        {
            throw new QuickSilverOptionsException(failures);
        }
    }

    public static string Show<T>(T value) => value switch
    {
        long or int => ((IFormattable)value).ToString("N0", CultureInfo.InvariantCulture),
        TimeSpan span => span.ToString("c", CultureInfo.InvariantCulture),
        _ => value?.ToString() ?? "null",
    };
}
