using System.Globalization;
using System.Text.RegularExpressions;

namespace QuickSilver.Campaign.Contenders;

// A peer behind a script `run.sh RECEIVERS SIZE SECONDS [MODE]` that prints one line of `name=value` pairs.
internal sealed partial class PeerContender(
    DirectoryInfo peers, string folder, string mode, IReadOnlyList<(string Name, string Value)> environment) : IContender
{
    private static readonly TimeSpan Overhead = TimeSpan.FromSeconds(90);

    public string Name => mode.Length == 0 ? folder : $"{folder}-{mode}";

    public bool IsOwn => false;

    public string Command(Load load, int seconds) =>
        string.Concat(environment.Select(variable => $"{variable.Name}={variable.Value} "))
        + $"{folder}/run.sh {load.Receivers} {load.Bytes} {seconds} {mode}".TrimEnd();

    public Measurement Run(Load load, int seconds)
    {
        string[] numbers = [.. new[] { load.Receivers, load.Bytes, seconds }.Select(n => n.ToString(CultureInfo.InvariantCulture))];
        using var shell = new Shell(
            Path.Combine(peers.FullName, folder, "run.sh"), mode.Length == 0 ? numbers : [.. numbers, mode], environment);
        var ended = shell.Wait(TimeSpan.FromSeconds(seconds) + Overhead);
        var figures = new Dictionary<string, double>();
        foreach (Match pair in Pair().Matches(ended.Output))
        {
            figures[pair.Groups[1].Value] = double.Parse(pair.Groups[2].Value, CultureInfo.InvariantCulture);
        }

        double Figure(string name) => figures.GetValueOrDefault(name, double.NaN);
        if (ended.Code != 0 || !(figures.ContainsKey("p50_us") || (figures.ContainsKey("msg_per_s") && figures.ContainsKey("lost"))))
        {
            return Measurement.Failed(ended.Reason);
        }

        return new Measurement
        {
            MessagesPerSecond = Figure("msg_per_s"),
            Lost = (long)figures.GetValueOrDefault("lost"),
            CpuSecondsPerMillion = Figure("cpu_s") / (Figure("msg_per_s") * seconds * load.Receivers) * 1e6,
            P50Micros = Figure("p50_us"),
            P99Micros = Figure("p99_us"),
        };
    }

    [GeneratedRegex(@"(\w+)=(\d+(?:\.\d+)?)(?!\S)")]
    private static partial Regex Pair();
}
