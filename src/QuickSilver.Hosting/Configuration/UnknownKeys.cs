using Microsoft.Extensions.Configuration;

namespace QuickSilver.Hosting.Configuration;

// The keys of a section that are none of an option, each with the one that was probably meant.
internal static class UnknownKeys
{
    private const char Colon = ':';

    public static List<string> In(IConfiguration section)
    {
        var failures = new List<string>();
        AddIn(section, "", [.. ConfigurationKeys.All.Select(static key => key.Name)], failures);
        return failures;
    }

    // All keys begin with the prefix; a child is known if it is the next part of one of them.
    private static void AddIn(IConfiguration section, string prefix, string[] keys, List<string> failures)
    {
        string[] known = [.. keys.Select(key => key[prefix.Length..].Split(Colon)[0]).Distinct().Order(StringComparer.Ordinal)];
        foreach (var child in section.GetChildren())
        {
            string? name = known.FirstOrDefault(one => one.Equals(child.Key, StringComparison.OrdinalIgnoreCase));
            if (name is null && known is [ConfigurationKeys.AnyTopic])
            {
                string[] ofTopic = [.. keys.Select(key => key.Replace(ConfigurationKeys.AnyTopic, child.Key, StringComparison.Ordinal))];
                AddIn(child, $"{prefix}{child.Key}:", ofTopic, failures);
            }
            else if (name is null)
            {
                failures.Add(Unknown($"{prefix}{child.Key}", prefix, keys, known));
            }
            else if (keys.Where(key => key.StartsWith($"{prefix}{name}:", StringComparison.Ordinal)).ToArray() is { Length: > 0 } below)
            {
                AddIn(child, $"{prefix}{name}:", below, failures);
            }
        }
    }

    private static string Unknown(string key, string prefix, string[] keys, string[] known)
    {
        // At the top, the groups and what is in them are meant as well.
        string[] candidates = prefix.Length > 0
            ? keys
            : [.. known, .. keys.Where(static one => !one.Contains(ConfigurationKeys.AnyTopic, StringComparison.Ordinal))];
        string meant = NearestKey.Of(key, candidates) is { } nearest ? $"Did you mean '{nearest}'? " : "";
        return $"Unknown option '{key}' in the configuration. {meant}Valid options: {string.Join(", ", known)}.";
    }
}
