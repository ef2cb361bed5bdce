using System.CommandLine;
using System.CommandLine.Parsing;
using QuickSilver.Serialization.Dynamic;

namespace QuickSilver.Tool.Commands.Options;

// What is wrong with a command line, and what was probably meant.
internal static class CommandLineFaults
{
    public static IReadOnlyList<string> Of(ParseResult parse)
    {
        var faults = new List<string>();
        var unknown = UnknownOptions(parse);
        faults.AddRange(unknown.Select(token => $"Unrecognized option '{token}'.{Hint(parse, token, "")}"));
        foreach (var error in parse.Errors)
        {
            // An option that is unknown is often also one argument too many, or the name of a topic that is none.
            string? about = parse.UnmatchedTokens.FirstOrDefault(token => error.Message.Contains($"'{token}'", StringComparison.Ordinal));
            if (about is null)
            {
                faults.Add(error.Message);
            }
            else if (!unknown.Contains(about))
            {
                faults.Add(error.Message + Hint(parse, about, "--help lists the commands and options."));
            }
        }

        return faults;
    }

    // Wherever there is room for arguments, the parser takes what it does not know for one. A name that begins with a dash can follow "--".
    private static List<string> UnknownOptions(ParseResult parse)
    {
        var arguments = new List<Token>();
        foreach (var child in parse.CommandResult.Children.OfType<ArgumentResult>())
        {
            arguments.AddRange(child.Tokens);
        }

        var beforeDashes = parse.Tokens.TakeWhile(static token => token.Type != TokenType.DoubleDash)
            .ToHashSet(ReferenceEqualityComparer.Instance);
        return
        [
            .. arguments.Where(beforeDashes.Contains).Select(static token => token.Value)
                .Concat(parse.UnmatchedTokens)
                .Where(static text => text.Length > 1 && text[0] == '-' && text != "--" && !char.IsAsciiDigit(text[1])),
        ];
    }

    private static string Hint(ParseResult parse, string token, string otherwise)
    {
        string name = token.Split('=', ':')[0];
        bool isOption = name.StartsWith('-');
        var names = isOption
            ? parse.CommandResult.Command.Options.SelectMany(static option => option.Aliases.Prepend(option.Name))
            : parse.CommandResult.Command.Subcommands.Where(static one => !one.Hidden).Select(static one => one.Name);
        return NearestName.Of(name, names) is { } near ? $" Did you mean '{near}'?" : otherwise.Length > 0 ? " " + otherwise : "";
    }
}
