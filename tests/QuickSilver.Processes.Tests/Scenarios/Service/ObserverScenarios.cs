using System.Text.Json;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Scenarios.Service;

// Observers that are suspended keep all places of the service, as when an operator stops `qsm top` with Ctrl+Z and leaves. I22.
public sealed class ObserverScenarios : IDisposable
{
    // The places of a service, and less than those of one address at each of two.
    private const int Places = 8;
    private const int Node = 4;
    private static readonly int[] Holders = [2, 3];
    // For one that was closed to read why. The others continue.
    private static readonly TimeSpan Short = TimeSpan.FromSeconds(3);

    private readonly QsmCluster _cluster = new(Node);

    public void Dispose() => _cluster.Dispose();

    [Fact]
    public void Suspended_observers_give_way_to_the_doctor_and_to_others()
    {
        NodeProcess[] suspended = [.. Enumerable.Range(0, Places).Select(i => Watch(Holders[i % Holders.Length]))];
        foreach (var top in suspended)
        {
            top.WaitForOutput(static output => output.LineCount > 0, "its first refresh");
        }

        Array.ForEach(suspended, static top => top.Send(ProcessSignal.Stop));
        string refused = Examine().GetProperty("text").GetString()!;
        Assert.Contains($"already has {Places} observers", refused, StringComparison.Ordinal);
        Assert.Contains($"4 at {_cluster.Network.Address(Holders[0])}", refused, StringComparison.Ordinal);
        Assert.Contains($"4 at {_cluster.Network.Address(Holders[1])}", refused, StringComparison.Ordinal);

        JsonElement found;
        do
        {
            found = Examine();
        }
        while (found.GetProperty("status").GetString() != "ok");
        var late = Watch(Node);
        late.WaitForOutput(static output => output.LineCount > 1, "two refreshes");

        Array.ForEach(suspended, static top => top.Send(ProcessSignal.Continue));
        var closed = suspended.Where(static top => top.Errors.WaitUntil(static errors => errors.HasEnded, Short)).ToArray();
        Assert.NotEmpty(closed);
        Assert.All(closed, static top =>
        {
            Assert.NotEqual(0, top.WaitForExit());
            Assert.Contains("it has taken nothing for ", top.Errors.Text(), StringComparison.Ordinal);
        });
    }

    private NodeProcess Watch(int node) => _cluster.Start(
        node, _cluster.OnNetwork(node, "top", "--json", "--interval", "0.5", "--gms", _cluster.Service));

    // What the doctor says of the service.
    private JsonElement Examine()
    {
        var doctor = _cluster.Join(Node, "doctor", "--json");
        doctor.WaitForExit();
        var checks = JsonDocument.Parse(doctor.Output.Text()).RootElement.GetProperty("checks");
        return checks.EnumerateArray().First(static check => check.GetProperty("check").GetString() == "service");
    }
}
