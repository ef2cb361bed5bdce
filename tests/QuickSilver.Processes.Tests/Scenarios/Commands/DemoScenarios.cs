using System.Diagnostics;
using System.Text.Json;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Scenarios.Commands;

// The demo, on the loopback interface: three processes, of which one is killed. F1.
public sealed class DemoScenarios
{
    [Fact]
    public void A_node_is_killed_and_nothing_is_lost()
    {
        var (code, output, errors) = Run("demo", "--seconds", "0.5", "--json");
        Assert.True(code == 0, output + errors);
        var result = JsonDocument.Parse(output).RootElement;
        Assert.True(result.GetProperty("nothingLost").GetBoolean());
        Assert.True(result.GetProperty("published").GetInt64() > 0);
        Assert.True(result.GetProperty("delivered").GetInt64() > result.GetProperty("published").GetInt64());
        Assert.Throws<ArgumentException>(() => Process.GetProcessById(result.GetProperty("killedProcess").GetInt32()));
        Assert.DoesNotContain("qsm:", errors);
    }

    [Fact]
    public void Redirected_the_demo_is_lines_of_text_that_end_with_the_result()
    {
        var (code, output, errors) = Run("demo", "--seconds", "0.5", "--rate", "200");
        Assert.True(code == 0, output + errors);
        string[] lines = output.Split('\n', StringSplitOptions.RemoveEmptyEntries);
        Assert.Equal("Each node publishes 200 messages a second to all three.", lines[1]);
        Assert.StartsWith("Nothing is lost: nodes 1 and 2 have every message of each other, once and in order.", lines[^1]);
        Assert.DoesNotContain('\u001b', output);
    }

    private static (int Code, string Output, string Errors) Run(params string[] arguments) =>
        LimitedProcess.Run(new ProcessStartInfo(Programs.Qsm, arguments), limit: TimeSpan.FromSeconds(120));
}
