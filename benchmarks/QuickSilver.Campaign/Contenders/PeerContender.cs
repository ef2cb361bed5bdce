using System.Globalization;
using System.Text.RegularExpressions;

namespace QuickSilver.Campaign.Contenders;

// A peer behind a script `run.sh RECEIVERS SIZE SECONDS [MODE]` that prints one line of `name=value` pairs.
internal sealed partial class PeerContender(DirectoryInfo peers, string folder, string mode) : IContender
{
    private static readonly TimeSpan Overhead = TimeSpan.FromSeconds(90);

    public string Name => mode.Length == 0 ? folder : $"{folder}-{mode}";

    public string Command(Load load, int seconds) => $"{folder}/run.sh {load.Receivers} {load.Bytes} {seconds} {mode}".TrimEnd();

    public Measurement Run(Load load, int seconds)
    {
        string[] numbers = [.. new[] { load.Receivers, load.Bytes, seconds }.Select(n => n.ToString(CultureInfo.InvariantCulture))];
        using var shell = new Shell(
            Path.Combine(peers.FullName, folder, "run.sh"), mode.Length == 0 ? numbers : [.. numbers, mode]);
        var (code, output, errors) = shell.Wait(TimeSpan.FromSeconds(seconds) + Overhead);
        var pairs = new Dictionary<string, string>();
        foreach (Match pair in Pair().Matches(output))
        {
            pairs[pair.Groups[1].Value] = pair.Groups[2].Value;
        }

        return code == 0
            && pairs.TryGetValue("msg_per_s", out string? rate)
            && pairs.TryGetValue("lost", out string? lost)
            ? new Measurement(double.Parse(rate, CultureInfo.InvariantCulture), long.Parse(lost, CultureInfo.InvariantCulture))
            : Measurement.Failed($"exit {code}: {(errors.Length > 0 ? errors : output).Trim().Split('\n')[^1]}");
    }

    [GeneratedRegex(@"(\w+)=(\S+)")]
    private static partial Regex Pair();
}
