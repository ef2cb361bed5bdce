namespace QuickSilver.Topics;

internal static class TopicName
{
    public const int MaxCharacters = 255;

    // What other brokers take for a wildcard wherever it stands. The plus sign of MQTT is one only where it is a whole level.
    private const string Wildcards = "*#>?";
    private const char Level = '/';

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
    /// no unpaired surrogates, and no wildcards.
    /// </summary>
    public static string? Fault(string name) => Fault("topic name", name);

    /// <summary>Throws if this is not what a topic name can begin with.</summary>
    public static void CheckPrefix(string prefix)
    {
        ArgumentNullException.ThrowIfNull(prefix);
        if (Fault("prefix", prefix) is { } fault)
        {
            throw new ArgumentException(fault, nameof(prefix));
        }
    }

    private static string? Fault(string subject, string name)
    {
        if (name.Length is < 1 or > MaxCharacters)
        {
            return $"The {subject} has {name.Length} characters. It must have 1 to {MaxCharacters}.";
        }

        for (int i = 0; i < name.Length; i++)
        {
            char c = name[i];
            if (char.IsControl(c))
            {
                return $"The {subject} contains the control character U+{(int)c:X4} at position {i}. Control characters are not allowed.";
            }

            if (Wildcards.Contains(c) || (c == '+' && IsLevel(name, i)))
            {
                return $"The {subject} contains '{c}' at position {i}. A topic name is the name of one topic, and there are no wildcards. "
                    + "To subscribe to all topics whose names begin alike, call OpenPrefixAsync with what they begin with.";
            }

            // An unpaired surrogate cannot be encoded as UTF-8, so two different names would have the same id.
            if (char.IsHighSurrogate(c) && i + 1 < name.Length && char.IsLowSurrogate(name[i + 1]))
            {
                i++;
            }
            else if (char.IsSurrogate(c))
            {
                return $"The {subject} contains an unpaired surrogate at position {i}. It must be valid Unicode.";
            }
        }

        return null;
    }

    private static bool IsLevel(string name, int at) =>
        (at == 0 || name[at - 1] == Level) && (at == name.Length - 1 || name[at + 1] == Level);
}
