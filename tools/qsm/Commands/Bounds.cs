using System.CommandLine;
using System.CommandLine.Parsing;

namespace QuickSilver.Tool.Commands;

// Refuses at the command line what lies outside a range, naming option, value and range.
internal static class Bounds
{
    public static Option<T> Within<T>(this Option<T> option, T least, T most)
        where T : struct, IComparable<T>
    {
        option.Validators.Add(result => Check(result, Read<T>(result, () => result.GetValueOrDefault<T>()), least, most));
        return option;
    }

    public static Option<T?> Within<T>(this Option<T?> option, T least, T most)
        where T : struct, IComparable<T>
    {
        option.Validators.Add(result => Check(result, Read<T>(result, () => result.GetValueOrDefault<T?>()), least, most));
        return option;
    }

    private static T? Read<T>(OptionResult result, Func<T?> read)
        where T : struct
    {
        try
        {
            return result.Tokens.Count > 0 ? read() : null;
        }
        catch (InvalidOperationException)
        {
            // Not a value of the type at all: the parser says so itself.
            return null;
        }
    }

    private static void Check<T>(OptionResult result, T? value, T least, T most)
        where T : struct, IComparable<T>
    {
        if (value is T given && !(given.CompareTo(least) >= 0 && given.CompareTo(most) <= 0))
        {
            result.AddError($"{result.Option.Name}: {given} is not within {least} to {most}.");
        }
    }
}
