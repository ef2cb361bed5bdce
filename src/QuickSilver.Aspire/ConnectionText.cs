using System.Data.Common;

namespace QuickSilver.Aspire;

// The connection string of a cluster. Its values are never shown: one of them is the secret.
internal sealed class ConnectionText
{
    private const string Servers = nameof(MembershipOptions.Servers);
    private const string Cluster = nameof(QuickSilverOptions.Cluster);
    private const string Interface = nameof(QuickSilverOptions.Interface);
    private const string Secret = "Secret";
    private static readonly string[] Keys = [Servers, Cluster, Secret, Interface];

    private readonly Dictionary<string, string> _values = new(StringComparer.OrdinalIgnoreCase);

    /// <exception cref="InvalidOperationException">The text is no connection string of a cluster.</exception>
    public ConnectionText(string connection, string text)
    {
        string advice = $"Its keys are {string.Join(", ", Keys)}, and {Servers} is required.";
        DbConnectionStringBuilder parts;
        try
        {
            parts = new DbConnectionStringBuilder { ConnectionString = text };
        }
        catch (ArgumentException)
        {
            throw new InvalidOperationException($"The connection string '{connection}' does not consist of KEY=VALUE pairs. {advice}");
        }

        foreach (string key in parts.Keys)
        {
            if (!Keys.Contains(key, StringComparer.OrdinalIgnoreCase))
            {
                throw new InvalidOperationException($"The connection string '{connection}' has the unknown key '{key}'. {advice}");
            }

            _values[key] = (string)parts[key];
        }

        if (!_values.ContainsKey(Servers))
        {
            throw new InvalidOperationException($"The connection string '{connection}' has no {Servers}. {advice}");
        }
    }

    public void ApplyTo(QuickSilverOptions options)
    {
        options.Membership.Servers = [.. _values[Servers].Split(',', StringSplitOptions.TrimEntries)];
        options.Cluster = _values.GetValueOrDefault(Cluster) ?? options.Cluster;
        if (_values.TryGetValue(Interface, out string? text))
        {
            options.Interface = NodeInterface.Parse(text);
        }

        if (_values.TryGetValue(Secret, out string? secret))
        {
            options.Security.UseSecret(secret);
        }
    }
}
