using System.Globalization;

namespace QuickSilver.Serialization.Dynamic;

// The names of an enum's values. What cannot be read back as the same value has no name here and stays a number: a name that two values
// have, and one that reads as a number or as several names. Of two names of one value, the first is shown, and both are read.
internal sealed class DynamicEnum
{
    private const int MostNamesListed = 8;

    // For each bit, and as many names of combinations: each value that is shown is compared with all.
    private const int MostFlags = 128;

    private readonly Dictionary<string, long> _numbers = new(StringComparer.Ordinal);
    private readonly Dictionary<long, string> _names = [];
    // The values of flags, largest first, as combinations are taken apart.
    private readonly List<long> _flags = [];

    public DynamicEnum(PayloadEnum described)
    {
        Name = described.Name;
        foreach (var (name, number) in described.Values)
        {
            if (IsName(name) && _numbers.TryAdd(name, number) && _names.TryAdd(number, name) && described.IsFlags && number != 0
                && _flags.Count < MostFlags)
            {
                _flags.Add(number);
            }
        }

        _flags.Sort(static (a, b) => ((ulong)b).CompareTo((ulong)a));
        IsFlags = described.IsFlags;
    }

    public string Name { get; }

    public bool IsFlags { get; }

    public IEnumerable<string> Names => _numbers.Keys;

    /// <summary>The name of the value, or the names of its flags; null if it has none.</summary>
    public string? NameOf(long number)
    {
        if (_names.TryGetValue(number, out string? name))
        {
            return name;
        }

        if (!IsFlags || number == 0)
        {
            return null;
        }

        var parts = new List<string>();
        long left = number;
        foreach (long flag in _flags)
        {
            if ((left & flag) == flag)
            {
                left &= ~flag;
                parts.Add(_names[flag]);
            }
        }

        parts.Reverse();
        return left == 0 ? string.Join(", ", parts) : null;
    }

    public bool TryParse(string text, out long number)
    {
        if (_numbers.TryGetValue(text, out number) || !IsFlags)
        {
            return _numbers.ContainsKey(text);
        }

        foreach (var part in text.AsSpan().Split(','))
        {
            if (!_numbers.TryGetValue(text[part].Trim(), out long flag))
            {
                return false;
            }

            number |= flag;
        }

        return true;
    }

    /// <summary>What may stand for a value, in words.</summary>
    public string Expected(string wrong)
    {
        string near = NearestName.Of(wrong, Names) is { } name ? $"'{name}', " : "";
        string more = _numbers.Count > MostNamesListed ? ", …" : "";
        return $"{near}a name of {Name} ({string.Join(", ", Names.Take(MostNamesListed))}{more}) or its number";
    }

    private static bool IsName(string name) => name.Length > 0 && !name.Contains(',') && name.Trim().Length == name.Length
        && !long.TryParse(name, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out _)
        && !ulong.TryParse(name, NumberStyles.None, CultureInfo.InvariantCulture, out _);
}
