using System.Globalization;
using System.Text;

namespace QuickSilver.Tool.Catalog.Sources;

// Identifiers of protobuf for names that come from a contract, each once within its scope. Names that differ in case or underscores only
// count as one: protobuf treats them as one in JSON, and generators of some languages make one of them.
internal sealed class ProtoNames(params IEnumerable<string> taken)
{
    private const int MostChars = 200;

    private readonly HashSet<string> _taken = [.. taken.Select(Key)];

    /// <summary>An identifier for the name; one for <paramref name="fallback"/> if it has no letters or digits.</summary>
    /// <param name="name">The name.</param>
    /// <param name="fallback">An identifier.</param>
    /// <param name="isMap">Whether it is a field of maps, with which protobuf defines a type in the same scope.</param>
    public string Of(string name, string fallback, bool isMap = false)
    {
        string identifier = Identifier(name) ?? fallback;
        string unique = identifier;
        for (int i = 2; !TryTake(Key(unique), isMap); i++)
        {
            unique = string.Create(CultureInfo.InvariantCulture, $"{identifier}{i}");
        }

        return unique;
    }

    private bool TryTake(string key, bool isMap)
    {
        string entry = key + Key("Entry");
        if (_taken.Contains(key) || (isMap && _taken.Contains(entry)))
        {
            return false;
        }

        _taken.Add(key);
        if (isMap)
        {
            _taken.Add(entry);
        }

        return true;
    }

    private static string Key(string name) => name.Replace("_", "", StringComparison.Ordinal).ToUpperInvariant();

    private static string? Identifier(string name)
    {
        var text = new StringBuilder();
        foreach (char c in name.Take(MostChars))
        {
            text.Append(char.IsAsciiLetterOrDigit(c) ? c : '_');
        }

        string identifier = text.ToString();
        return !identifier.Any(char.IsAsciiLetterOrDigit) ? null : char.IsAsciiLetter(identifier[0]) ? identifier : "N" + identifier;
    }
}
