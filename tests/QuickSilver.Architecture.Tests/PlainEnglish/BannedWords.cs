using System.Text.RegularExpressions;
using QuickSilver.Architecture.Tests.Reading;

namespace QuickSilver.Architecture.Tests.PlainEnglish;

// The list of words.txt as one regular expression, of which a group per entry says which entry matched.
internal sealed class BannedWords
{
    private readonly Regex _pattern;
    private readonly List<string> _better = [];

    public BannedWords(IEnumerable<string> lines)
    {
        var groups = new List<string>();
        foreach (string line in lines.Where(l => l.Length > 0 && !l.StartsWith('#')))
        {
            int bar = line.LastIndexOf(" | ", StringComparison.Ordinal);
            groups.Add($"(?<w{_better.Count}>{line[..bar].Replace(" ", @"\s+", StringComparison.Ordinal)})");
            _better.Add(line[(bar + 3)..]);
        }

        _pattern = new Regex(
            $@"\b(?:{string.Join('|', groups)})(?!\w)",
            RegexOptions.IgnoreCase | RegexOptions.Compiled | RegexOptions.ExplicitCapture);
    }

    public static BannedWords Listed { get; } =
        new(Repository.ReadLines("tests/QuickSilver.Architecture.Tests/PlainEnglish/words.txt"));

    /// <summary>The banned words of a text, by lines of the text, with what to write instead.</summary>
    public IEnumerable<(int Line, string Word, string Better)> In(string prose)
    {
        var (line, counted) = (1, 0);
        foreach (Match match in _pattern.Matches(prose))
        {
            line += prose.AsSpan(counted, match.Index - counted).Count('\n');
            counted = match.Index;
            int entry = Enumerable.Range(0, _better.Count).First(i => match.Groups[$"w{i}"].Success);
            yield return (line, Regex.Replace(match.Value, @"\s+", " "), _better[entry]);
        }
    }
}
