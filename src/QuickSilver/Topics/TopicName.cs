namespace QuickSilver.Topics;

internal static class TopicName
{
    public const int MaxCharacters = 255;

    /// <summary>Throws if the name is not a valid topic name.</summary>
    public static void Check(string name)
    {
        ArgumentNullException.ThrowIfNull(name);
        if (Fault(name) is { } fault)
        {
            throw new ArgumentException(fault, nameof(name));
        }
    }

    /// <summary>
    /// Describes why the name is not a valid topic name; null if it is valid. A valid name has 1 to 255 characters, no control characters,
    /// and no unpaired surrogates.
    /// </summary>
    public static string? Fault(string name)
    {
        if (name.Length is < 1 or > MaxCharacters)
        {
            return $"The topic name has {name.Length} characters. It must have 1 to {MaxCharacters}.";
        }

        for (int i = 0; i < name.Length; i++)
        {
            char c = name[i];
            if (char.IsControl(c))
            {
                return $"The topic name contains the control character U+{(int)c:X4} at position {i}. Control characters are not allowed.";
            }

            // An unpaired surrogate cannot be encoded as UTF-8, so two different names would have the same id.
            if (char.IsHighSurrogate(c) && i + 1 < name.Length && char.IsLowSurrogate(name[i + 1]))
            {
                i++;
            }
            else if (char.IsSurrogate(c))
            {
                return $"The topic name contains an unpaired surrogate at position {i}. It must be valid Unicode.";
            }
        }

        return null;
    }
}
