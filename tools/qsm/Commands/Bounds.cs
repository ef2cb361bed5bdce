using System.CommandLine;

namespace QuickSilver.Tool.Commands;

internal static class Bounds
{
    // Refuses at the command line what lies outside a range, naming option, value and range.
    public static Option<T> Within<T>(this Option<T> option, T least, T most)
        where T : struct, IComparable<T>
    {
        option.Validators.Add(result =>
        {
            if (result.Tokens.Count > 0 && result.GetValueOrDefault<T>() is T value
                && (value.CompareTo(least) < 0 || value.CompareTo(most) > 0))
            {
                result.AddError($"{option.Name}: {value} is not within {least} to {most}.");
            }
        });
        return option;
    }
}
