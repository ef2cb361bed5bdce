using System.CommandLine;
using QuickSilver.Campaign;

var peers = new Option<DirectoryInfo?>("--peers")
{
    Description = "A folder of peers to measure beside: netns.sh, and per peer a run.sh RECEIVERS SIZE SECONDS [MODE]. "
        + "Without it only QuickSilver is measured, in namespaces n1, n2, … with 10.77.0.N on e0, which must exist then.",
    HelpName = "DIR",
};
var lab = new Option<DirectoryInfo?>("--lab")
{
    Description = "A folder with the command 'lab' (lab up N loss=1, lab run I CMD, lab down: namespaces behind a switch that loses). "
        + "Without it, and with --quick, loss is not measured.",
    HelpName = "DIR",
};
var output = new Option<FileInfo>("--out")
{
    Description = "The page to write; its plots go into a folder of the same name beside it.",
    HelpName = "FILE",
    DefaultValueFactory = _ => new FileInfo("docs/performance.md"),
};
var rounds = new Option<int?>("--rounds") { Description = "Interleaved rounds, 1 to 100; 5, or 3 with --quick." };
var seconds = new Option<int?>("--seconds") { Description = "Seconds of sending per run, 1 to 600; 5, or 3 with --quick." };
var only = new Option<string[]>("--only")
{
    Description = "Only sections whose names begin so, as their plots' files are named: throughput, variants, round-trips, typed, "
        + "memory, requests, slow-reader, watching, sealed, shaped-link, loss, jumbo. Round trips under load need throughput-1000-3 "
        + "besides.",
    HelpName = "SECTION",
    AllowMultipleArgumentsPerToken = true,
    DefaultValueFactory = _ => [],
};
var quick = new Option<bool>("--quick") { Description = "A part of the matrix: under 10 minutes." };
foreach (var (option, most) in ((Option<int?>, int)[])[(rounds, 100), (seconds, 600)])
{
    option.Validators.Add(result =>
    {
        if (result.GetValueOrDefault<int?>() is { } value && (value < 1 || value > most))
        {
            result.AddError($"{option.Name} is {value}: it may be 1 to {most}.");
        }
    });
}

var command = new RootCommand(
    "Measures QuickSilver beside its peers, interleaved, and writes what it found with the commands that repeat it.")
{
    peers, lab, output, rounds, seconds, only, quick,
};
command.SetAction(parse =>
{
    bool isQuick = parse.GetValue(quick);
    var plan = new CampaignPlan
    {
        Peers = parse.GetValue(peers),
        Lab = parse.GetValue(lab),
        Output = parse.GetValue(output)!,
        Rounds = parse.GetValue(rounds) ?? (isQuick ? 3 : 5),
        Seconds = parse.GetValue(seconds) ?? (isQuick ? 3 : 5),
        Only = parse.GetValue(only)!,
        IsQuick = isQuick,
    };
    return new CampaignRun(plan).Run();
});
return command.Parse(args).Invoke();
