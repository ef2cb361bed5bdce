using System.Globalization;
using System.Text;

namespace QuickSilver.Tool.Catalog.Sources;

// Identifiers of C# for names that come from a contract, each once within its scope.
internal sealed class CSharpNames(params IEnumerable<string> taken)
{
    private const int MostChars = 200;

    private static readonly HashSet<string> Keywords =
    [
        "abstract", "as", "base", "bool", "break", "byte", "case", "catch", "char", "checked", "class", "const", "continue", "decimal",
        "default", "delegate", "do", "double", "else", "enum", "event", "explicit", "extern", "false", "finally", "fixed", "float", "for",
        "foreach", "goto", "if", "implicit", "in", "int", "interface", "internal", "is", "lock", "long", "namespace", "new", "null",
        "object", "operator", "out", "override", "params", "private", "protected", "public", "readonly", "ref", "return", "sbyte", "sealed",
        "short", "sizeof", "stackalloc", "static", "string", "struct", "switch", "this", "throw", "true", "try", "typeof", "uint", "ulong",
        "unchecked", "unsafe", "ushort", "using", "virtual", "void", "volatile", "while",
    ];

    private readonly HashSet<string> _taken = [.. taken];

    /// <summary>An identifier for the name; <paramref name="fallback"/> for one that has no letters.</summary>
    public string Of(string name, string fallback)
    {
        string identifier = Identifier(name, fallback);
        string unique = identifier;
        for (int i = 2; !_taken.Add(unique); i++)
        {
            unique = string.Create(CultureInfo.InvariantCulture, $"{identifier}{i}");
        }

        return Keywords.Contains(unique) || char.IsLower(unique[0]) && !unique.Any(char.IsUpper) ? "@" + unique : unique;
    }

    /// <summary>A name in Pascal case of the words of a topic's name.</summary>
    public static string Pascal(string name)
    {
        var text = new StringBuilder();
        bool begins = true;
        foreach (char c in name.Take(MostChars))
        {
            if (!IsPart(c))
            {
                begins = true;
                continue;
            }

            text.Append(begins ? char.ToUpperInvariant(c) : c);
            begins = false;
        }

        return text.ToString();
    }

    /// <summary>The name of a type without its namespace.</summary>
    public static string LastWord(string name) => name[(name.LastIndexOf('.') + 1)..];

    public static string Literal(string text)
    {
        var literal = new StringBuilder("\"");
        foreach (char c in text)
        {
            literal.Append(c switch
            {
                '"' => "\\\"",
                '\\' => "\\\\",
                _ when char.IsSurrogate(c) || !SafeText.IsSafe($"{c}") =>
                    string.Create(CultureInfo.InvariantCulture, $"\\u{(int)c:X4}"),
                _ => c.ToString(),
            });
        }

        return literal.Append('"').ToString();
    }

    private static string Identifier(string name, string fallback)
    {
        var text = new StringBuilder();
        foreach (char c in name.Take(MostChars))
        {
            text.Append(IsPart(c) ? c : '_');
        }

        if (!text.ToString().Any(char.IsLetterOrDigit))
        {
            return fallback;
        }

        return char.IsDigit(text[0]) ? "_" + text : text.ToString();
    }

    private static bool IsPart(char c) => c == '_' || char.IsAsciiLetterOrDigit(c) || (c > 127 && char.IsLetter(c));
}
