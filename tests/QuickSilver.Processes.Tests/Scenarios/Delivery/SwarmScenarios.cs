using System.Globalization;
using System.Text.Json;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab;
using QuickSilver.Processes.Tests.Lab.Machine;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Scenarios.Delivery;

// Many nodes, several to a process, behind a network that loses 2 of 100 frames: all get all that is published to their
// topics, and the simulator's checkers find the invariants kept in what the nodes wrote down. I1 to I4, I7, I8, I10, I19
// under F1.
[Collection(nameof(Alone))]
public sealed class SwarmScenarios
{
    private const int Processes = 4;
    private const int Rate = 5;

    [Fact]
    public void A_swarm_behind_loss_delivers_everything_and_keeps_the_simulators_invariants()
    {
        var each = ScenarioSize.SwarmNodes / Processes;
        using var cluster = new QsmCluster(Processes, impairment: new Impairment { LossPercent = 2 });
        using var folder = new RecordsFolder();

        var swarm = Enumerable.Range(0, Processes).Select(i => cluster.Join(
            i + 1, "swarm", "--json", "--nodes", Text(each), "--of", Text(Processes * each), "--first", Text(i * each), "--rate",
            Text(Rate), "--seconds", Text(ScenarioSize.Seconds), "--limit", "100", "--records", folder.File(i))).ToList();
        swarm.ForEach(process => process.ExpectExit(0));
        var check = cluster.Start(1, ["swarm", "check", "--json", .. Enumerable.Range(0, Processes).Select(folder.File)]);
        check.ExpectExit(0);

        var reports = swarm.ConvertAll(Parse);
        foreach (var report in reports)
        {
            Assert.Equal(each * Rate * ScenarioSize.Seconds, Number(report, "published"));
            Assert.Equal(0, Number(report, "gaps"));
            Assert.Equal(0, Number(report, "duplicates"));
        }

        // Each node also publishes an end marker to each of its two topics, which the records count as messages.
        var judgement = Parse(check);
        Assert.Equal(Processes * each, Number(judgement, "nodes"));
        Assert.True(Number(judgement, "published") >= Sum(reports, "published") + (2 * Processes * each), judgement.ToString());
        Assert.True(Number(judgement, "delivered") > Sum(reports, "delivered"), judgement.ToString());
        Assert.True(Sum(reports, "delivered") > Sum(reports, "published"), "each topic was to have several subscribers");
        Assert.True(Sum(reports, "repairs") > 0, "nothing was lost, so this shows nothing");
        Assert.Equal(0, Number(judgement, "violationCount"));
        Assert.Equal(0, Number(judgement, "gapsReported"));

        var withoutOne = cluster.Start(1, ["swarm", "check", .. Enumerable.Range(1, Processes - 1).Select(folder.File)]);
        withoutOne.ExpectExit(1);
        Assert.Contains("Node 0 is in none of the files", withoutOne.Errors.Text(), StringComparison.Ordinal);
        folder.CutShort(0);
        var withoutEnd = cluster.Start(1, ["swarm", "check", .. Enumerable.Range(0, Processes).Select(folder.File)]);
        withoutEnd.ExpectExit(1);
        Assert.Contains("has no end", withoutEnd.Errors.Text(), StringComparison.Ordinal);
    }

    private static double Sum(List<JsonElement> reports, string name) => reports.Sum(report => Number(report, name));

    private static JsonElement Parse(NodeProcess process) => JsonDocument.Parse(process.Output.Text()).RootElement.Clone();

    private static double Number(JsonElement report, string name) => report.GetProperty(name).GetDouble();

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    private sealed class RecordsFolder : IDisposable
    {
        private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("qsm-swarm-");

        public string File(int process) => Path.Combine(_folder.FullName, $"{process}.records");

        public void CutShort(int process)
        {
            using var file = new FileStream(File(process), FileMode.Open);
            file.SetLength(file.Length - sizeof(int));
        }

        public void Dispose() => _folder.Delete(recursive: true);
    }
}
