using System.Text.Json;
using QuickSilver.Campaign.Contenders.Testbeds;

namespace QuickSilver.Campaign.Contenders;

// QuickSilver's round trips: `qsm perf ping` to `qsm perf echo`. The options go to both.
internal sealed class OwnRoundTrip(ITestbed testbed, string name, params string[] options) : IContender
{
    private static readonly TimeSpan EchoLimit = TimeSpan.FromSeconds(20);

    public string Name => name;

    public bool IsOwn => true;

    public string Command(Load load, int seconds)
    {
        string more = string.Concat(options.Select(option => $" {option}"));
        return $"qsm perf ping TOPIC --size {load.Bytes} --seconds {seconds}{more} --json\n    qsm perf echo TOPIC{more}";
    }

    public Measurement Run(Load load, int seconds)
    {
        try
        {
            return testbed.Up(load.Receivers) is { } failure ? Measurement.Failed(failure) : RunUp(load, seconds);
        }
        finally
        {
            testbed.Down();
        }
    }

    /// <summary>On a testbed that is up already.</summary>
    public Measurement RunUp(Load load, int seconds)
    {
        string topic = Qsm.NewTopic();
        using var echo = Qsm.Start(testbed, 2, "echo", topic, options);
        using var ping = Qsm.Start(
            testbed, 1, "ping", topic, ["--size", $"{load.Bytes}", "--seconds", $"{seconds}", "--json", .. options]);
        var pinged = ping.Wait(TimeSpan.FromSeconds(seconds) + Qsm.Overhead);
        echo.Interrupt();
        var echoed = echo.Wait(EchoLimit);
        if (pinged.Code != 0 || echoed.Code != 0)
        {
            return Measurement.Failed((pinged.Code != 0 ? pinged : echoed).Reason);
        }

        var times = JsonDocument.Parse(pinged.Output).RootElement.GetProperty("roundTripMicros");
        return new Measurement
        {
            P50Micros = times.GetProperty("p50").GetDouble(),
            P99Micros = times.GetProperty("p99").GetDouble(),
        };
    }
}
