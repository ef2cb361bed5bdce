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

    // What other tools call it. What is left is found by its name in the tree of commands.
    private static readonly Dictionary<string, string[]> OtherWords = new(StringComparer.Ordinal)
    {
        ["list"] = ["topics", "nodes"],
        ["ls"] = ["topics", "nodes"],
        ["publish"] = ["pub"],
        ["write"] = ["pub"],
        ["subscribe"] = ["sub"],
        ["listen"] = ["sub"],
        ["read"] = ["sub"],
        ["tail"] = ["sub"],
        ["watch"] = ["sub", "top"],
        ["status"] = ["top", "nodes"],
        ["stats"] = ["top"],
        ["monitor"] = ["top"],
        ["members"] = ["nodes"],
        ["diagnose"] = ["doctor"],
        ["serve"] = ["gms"],
        ["server"] = ["gms"],
        ["benchmark"] = ["perf"],
        ["simulate"] = ["sim"],
        ["schema"] = ["topic describe"],
        ["contract"] = ["topic describe"],
    };

    // The commands that a wrong word stands for, as they are typed.
    private static List<string> Meant(ParseResult parse, string word)
    {
        var found = new List<string>();
        AddNamed(parse.RootCommandResult.Command, "qsm");
        found.AddRange((OtherWords.GetValueOrDefault(word) ?? []).Select(static command => $"qsm {command}"));
        return found;

        void AddNamed(Command parent, string path)
        {
            foreach (var command in parent.Subcommands.Where(static one => !one.Hidden))
            {
                string its = $"{path} {command.Name}";
                if (command.Name == word)
                {
                    found.Add(its);
                }

                AddNamed(command, its);
            }
        }
    }

    private static string Hint(ParseResult parse, string token, string otherwise)
    {
        string name = token.Split('=', ':')[0];
        bool isOption = name.StartsWith('-');
        if (!isOption && parse.CommandResult.Command.Subcommands.Count > 0 && Meant(parse, name) is { Count: > 0 } meant)
        {
            return $" Did you mean '{string.Join("' or '", meant)}'?";
        }

        var names = isOption
            ? parse.CommandResult.Command.Options.SelectMany(static option => option.Aliases.Prepend(option.Name))
            : parse.CommandResult.Command.Subcommands.Where(static one => !one.Hidden).Select(static one => one.Name);
        return NearestName.Of(name, names) is { } near ? $" Did you mean '{near}'?" : otherwise.Length > 0 ? " " + otherwise : "";
    }
}
