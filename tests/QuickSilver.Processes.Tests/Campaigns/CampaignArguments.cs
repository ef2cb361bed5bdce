using System.Globalization;

namespace QuickSilver.Processes.Tests.Campaigns;

// OPTION=VALUE words of a campaign. A word that no campaign asks for is not noticed.
internal sealed class CampaignArguments
{
    private readonly Dictionary<string, string> _values = new(StringComparer.Ordinal);

    public static CampaignArguments Read(ReadOnlySpan<string> words)
    {
        var read = new CampaignArguments();
        foreach (string word in words)
        {
            int split = word.IndexOf('=', StringComparison.Ordinal);
            read._values[split < 0 ? word : word[..split]] = split < 0 ? "" : word[(split + 1)..];
        }

        return read;
    }

    public int Number(string option, int otherwise) =>
        _values.TryGetValue(option, out string? text) ? int.Parse(text, NumberStyles.None, CultureInfo.InvariantCulture) : otherwise;

    public string? Text(string option) => _values.GetValueOrDefault(option);

    public bool Is(string option, string value) => _values.TryGetValue(option, out string? given) && given == value;

    public bool Has(string option) => _values.ContainsKey(option);
}
