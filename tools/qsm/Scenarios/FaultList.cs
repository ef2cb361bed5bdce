using System.CommandLine;
using System.CommandLine.Parsing;
using System.Globalization;
using System.Numerics;
using QuickSilver.Simulation;
using QuickSilver.Simulation.Experiments;

namespace QuickSilver.Tool.Scenarios;

// The faults of a run as words on a command line: "sleep,loss=0.01,crash".
internal static class FaultList
{
    private const string None = "none";
    private const string Sleep = "sleep";
    private const string LossBursts = "loss-bursts";
    private const string LossShare = "loss=";
    private const double MostLoss = 0.5;

    private static readonly FaultKinds All = Enum.GetValues<FaultKinds>().Aggregate(static (all, kind) => all | kind);

    // The kinds that are drawn from the seed.
    private static readonly (string Name, FaultKinds Kind)[] Drawn =
        [.. Enum.GetValues<FaultKinds>().Where(kind => kind != FaultKinds.None).Select(kind => (NameOf(kind), kind)), ("all", All)];

    private static string Allowed =>
        $"{None}, {Sleep}, {LossBursts}, {LossShare}SHARE, " + string.Join(", ", Drawn.Select(drawn => drawn.Name));

    public static Option<LoadFaults?> Option() => new("--faults")
    {
        Description = $"The faults, instead of the scenario's: a list of {Allowed}. The last ones are drawn from the seed.",
        HelpName = "LIST",
        CustomParser = Read,
    };

    public static string Say(LoadFaults faults)
    {
        var words = new List<string>();
        if (faults.Sleep)
        {
            words.Add(Sleep);
        }

        if (faults.LossBursts)
        {
            words.Add(LossBursts);
        }

        if (faults.Loss > 0)
        {
            words.Add(string.Create(CultureInfo.InvariantCulture, $"{LossShare}{faults.Loss}"));
        }

        words.AddRange(faults.Drawn == All
            ? ["all"]
            : Drawn.Where(drawn => BitOperations.IsPow2((int)drawn.Kind) && faults.Drawn.HasFlag(drawn.Kind)).Select(drawn => drawn.Name));
        return words.Count == 0 ? None : string.Join(',', words);
    }

    // A name on the command line never changes.
    private static string NameOf(FaultKinds kind) => kind switch
    {
        FaultKinds.Reordering => "disorder",
        FaultKinds.MemoryShortage => "shortage",
        FaultKinds.StrangerPackets => "foreign",
        _ => kind.ToString().ToLowerInvariant(),
    };

    private static LoadFaults? Read(ArgumentResult result)
    {
        var faults = new LoadFaults();
        foreach (string word in result.Tokens[^1].Value.Split(','))
        {
            if (word.StartsWith(LossShare, StringComparison.Ordinal))
            {
                if (!double.TryParse(word[LossShare.Length..], CultureInfo.InvariantCulture, out double loss)
                    || loss is not (>= 0 and <= MostLoss))
                {
                    result.AddError($"--faults: '{word}' is not {LossShare} and a number from 0 to 0.5.");
                    return null;
                }

                faults = faults with { Loss = loss };
                continue;
            }

            var kind = Drawn.FirstOrDefault(drawn => drawn.Name == word).Kind;
            switch (word)
            {
                case None:
                    break;
                case Sleep:
                    faults = faults with { Sleep = true };
                    break;
                case LossBursts:
                    faults = faults with { LossBursts = true };
                    break;
                case var _ when kind != FaultKinds.None:
                    faults = faults with { Drawn = faults.Drawn | kind };
                    break;
                default:
                    result.AddError($"--faults: Unknown fault '{word}'. Valid faults: {Allowed}.");
                    return null;
            }
        }

        return faults;
    }
}
