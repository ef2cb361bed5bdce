using System.Globalization;
using System.Text;

namespace QuickSilver.Tool.Catalog;

// Names and texts come from the network, so nothing in them may control the terminal, or show them as another text: no control characters,
// no ends of lines, and none that a reader does not see, such as those that reverse the direction of writing. Two are left, which join or
// separate letters in some scripts.
internal static class SafeText
{
    private const int ZeroWidthNonJoiner = 0x200C;
    private const int ZeroWidthJoiner = 0x200D;

    public static string Of(string text) => IsSafe(text)
        ? text
        : string.Concat(text.EnumerateRunes().Select(static rune => IsSafe(rune) ? rune.ToString() : "\uFFFD"));

    /// <summary>The same for a text of several lines, which remain. Every end of a line is a line feed.</summary>
    public static string OfLines(string text) =>
        IsSafe(text) ? text : string.Join('\n', text.ReplaceLineEndings("\n").Split('\n').Select(Of));

    /// <summary>Whether a text can be shown unchanged.</summary>
    public static bool IsSafe(string text)
    {
        foreach (var rune in text.EnumerateRunes())
        {
            if (!IsSafe(rune))
            {
                return false;
            }
        }

        return true;
    }

    // Half of a pair of surrogates comes as the replacement character itself.
    private static bool IsSafe(Rune rune) => rune.Value is ZeroWidthNonJoiner or ZeroWidthJoiner
        || Rune.GetUnicodeCategory(rune) is not (UnicodeCategory.Control or UnicodeCategory.Format or UnicodeCategory.LineSeparator
            or UnicodeCategory.ParagraphSeparator);
}
