using System.CommandLine;
using System.CommandLine.Parsing;
using System.Globalization;
using QuickSilver.Topics;

namespace QuickSilver.Tool.Commands.Options;

// Refuses at the command line what is no number or lies outside a range, naming option, value and range.
internal static class Bounds
{
    public static Option<T> Within<T>(this Option<T> option, T least, T most)
        where T : struct, IParsable<T>, IComparable<T>
    {
        option.CustomParser = result => Read(result, option, least, most) ?? least;
        return option;
    }

    public static Option<T?> Within<T>(this Option<T?> option, T least, T most)
        where T : struct, IParsable<T>, IComparable<T>
    {
        option.CustomParser = result => Read(result, option, least, most);
        return option;
    }

    /// <summary>Refuses what is none of the names, whatever the case of their letters.</summary>
    public static Option<T> Named<T>(this Option<T> option)
        where T : struct, Enum
    {
        option.CustomParser = result => ReadName<T>(result, option) ?? default;
        return option;
    }

    public static Option<T?> Named<T>(this Option<T?> option)
        where T : struct, Enum
    {
        option.CustomParser = result => ReadName<T>(result, option);
        return option;
    }

    /// <summary>A topic's name, refused by the library's own rule before anything is started.</summary>
    public static void CheckTopics(SymbolResult result)
    {
        foreach (var token in result.Tokens)
        {
            if (TopicName.Fault(token.Value) is { } fault)
            {
                result.AddError($"TOPIC: {fault}");
            }
        }
    }

    /// <summary>Refuses two options given together.</summary>
    public static void Exclude(Command command, Option one, Option other) => command.Validators.Add(result =>
    {
        if (result.GetResult(one) is { Implicit: false } && result.GetResult(other) is { Implicit: false })
        {
            result.AddError($"Use either {one.Name} or {other.Name}, not both.");
        }
    });

    /// <summary>Refuses an option that is given without the other.</summary>
    public static void Require(Command command, Option option, Option other) => command.Validators.Add(result =>
    {
        if (result.GetResult(option) is { Implicit: false } && result.GetResult(other) is not { Implicit: false })
        {
            result.AddError($"{option.Name} needs {other.Name}.");
        }
    });

    private static T? ReadName<T>(ArgumentResult result, Option option)
        where T : struct, Enum
    {
        string text = result.Tokens[^1].Value;
        string[] names = Enum.GetNames<T>();
        if (names.FirstOrDefault(name => name.Equals(text, StringComparison.OrdinalIgnoreCase)) is { } found)
        {
            return Enum.Parse<T>(found);
        }

        string allowed = string.Join(", ", names.Select(static name => name.ToLowerInvariant()));
        result.AddError($"{option.Name}: '{text}' is none of {allowed}.");
        return null;
    }

    private static T? Read<T>(ArgumentResult result, Option option, T least, T most)
        where T : struct, IParsable<T>, IComparable<T>
    {
        string text = result.Tokens[^1].Value;
        if (T.TryParse(text, CultureInfo.InvariantCulture, out T value) && value.CompareTo(least) >= 0 && value.CompareTo(most) <= 0)
        {
            return value;
        }

        result.AddError(string.Create(
            CultureInfo.InvariantCulture, $"{option.Name}: '{text}' is not a number from {least} to {most}."));
        return null;
    }
}
