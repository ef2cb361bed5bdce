using System.Text;
using QuickSilver.Core.Environment;

namespace QuickSilver.Membership.Views;

// The rules for what people call a node. A name is no key: several nodes may have the same one.
//
// Names are printed on terminals, in logs and on web pages of other machines, so that they consist of letters, digits and a few marks:
// nothing in them moves a cursor, ends a line or has to be quoted. Names from other nodes are not trusted: Clean makes a name of any text.
internal static class NodeName
{
    /// <summary>Of a name in UTF-8.</summary>
    public const int MaxBytes = 128;

    private const string Marks = "-._@:/+";
    private const char Substitute = '-';
    // Between the two parts of a name that is composed.
    private const char At = '@';
    // So that both parts of it stay recognizable if they are long.
    private const int MaxPartBytes = (MaxBytes - 1) / 2;

    public static string Allowed { get; } =
        $"1 to {MaxBytes} bytes in UTF-8 of letters, digits and the characters {string.Join(' ', Marks.ToCharArray())}";

    public static bool IsValid(string name) =>
        name.Length > 0 && Encoding.UTF8.GetByteCount(name) <= MaxBytes && !name.EnumerateRunes().Any(static rune => !IsAllowed(rune));

    /// <summary>The name of a node that was given none; empty if nothing is known of its process.</summary>
    public static string Of(ProcessLabel process, string? application = null)
    {
        string program = Clean(application ?? process.Application, MaxPartBytes);
        string machine = Clean(process.Machine, MaxPartBytes);
        return program.Length > 0 && machine.Length > 0 ? $"{program}{At}{machine}" : program + machine;
    }

    /// <summary>The text as a name: what is not allowed is replaced, and what is too long is cut off.</summary>
    public static string Clean(string text, int maxBytes = MaxBytes)
    {
        if (text.Length <= maxBytes && IsPlain(text))
        {
            return text;
        }

        var clean = new StringBuilder(Math.Min(text.Length, maxBytes));
        int bytes = 0;
        foreach (var rune in text.EnumerateRunes())
        {
            var kept = IsAllowed(rune) ? rune : new Rune(Substitute);
            if ((bytes += kept.Utf8SequenceLength) > maxBytes)
            {
                break;
            }

            clean.Append(kept.ToString());
        }

        return clean.ToString();
    }

    private static bool IsAllowed(Rune rune) => Rune.IsLetterOrDigit(rune) || (rune.IsAscii && Marks.Contains((char)rune.Value));

    private static bool IsPlain(string text)
    {
        foreach (char c in text)
        {
            if (!char.IsAsciiLetterOrDigit(c) && !Marks.Contains(c))
            {
                return false;
            }
        }

        return true;
    }
}
