using System.Globalization;
using System.Text;

namespace QuickSilver.Processes.Tests.Harness;

// Lines as people have them: numbered, of uneven length, some beyond one packet, with letters that are not ASCII and
// with spaces at the end. Each is different, so a run of them has only one place in the whole.
internal static class TestLines
{
    private static readonly string[] Places = ["Zürich", "São Paulo", "東京", "Reykjavík", "Ελληνικό", "Chicago O'Hare  "];

    public static string[] Make(int count, string name = "line", int first = 0) =>
        [.. Enumerable.Range(first, count).Select(i => Make(name, i))];

    /// <summary>The lines as a process reads and prints them.</summary>
    public static string Join(IEnumerable<string> lines)
    {
        var text = new StringBuilder();
        foreach (var line in lines)
        {
            text.Append(line).Append('\n');
        }

        return text.ToString();
    }

    private static string Make(string name, int i)
    {
        var line = string.Create(CultureInfo.InvariantCulture, $"{name},{i:D7},{Places[i % Places.Length]}");
        return (i % 100) switch
        {
            17 => line + "," + new string((char)('a' + (i % 26)), 4000),
            50 => line + "," + string.Join(' ', Enumerable.Range(i, 40)),
            _ => line,
        };
    }
}
