using System.Globalization;

namespace QuickSilver.Groups.Tools.Replicas;

// The rules for the options of tools: an option, its value, and what is allowed.
internal static class ToolOptions
{
    /// <summary>Null: the value is in the range.</summary>
    public static string? Range(string option, int value, int least, int most) => value < least || value > most
        ? string.Create(CultureInfo.InvariantCulture, $"The option {option} is {value:N0}. Allowed: {least:N0} to {most:N0}.")
        : null;

    /// <summary>Null: the order is one of all members.</summary>
    public static string? Order(string option, GroupOrder order) => order is GroupOrder.Total or GroupOrder.Safe
        ? null
        : $"The option {option} is {order}. Allowed: {nameof(GroupOrder.Total)}, {nameof(GroupOrder.Safe)}.";

    /// <exception cref="QuickSilverOptionsException">There is a failure.</exception>
    public static void Check(params ReadOnlySpan<string?> failures)
    {
        var found = new List<string>();
        foreach (string? one in failures)
        {
            if (one is not null)
            {
                found.Add(one);
            }
        }

        if (found.Count > 0)
        {
            throw new QuickSilverOptionsException(found);
        }
    }
}
