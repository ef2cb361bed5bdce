using System.Globalization;
using System.Text.Json;
using QuickSilver.Campaign.Contenders.Testbeds;

namespace QuickSilver.Campaign.Contenders;

// QuickSilver's requests: `qsm perf request` to so many `qsm perf respond`.
internal sealed class RequestContender(
    ITestbed testbed, string name, int responders, int outstanding, params string[] responderOptions) : IContender
{
    private static readonly TimeSpan ResponderLimit = TimeSpan.FromSeconds(20);

    public string Name => name;

    public bool IsOwn => true;

    public string Command(Load load, int seconds) =>
        $"qsm perf request TOPIC {string.Join(' ', RequesterOptions(load, seconds))}\n"
        + $"    {responders} × qsm perf respond TOPIC {string.Join(' ', responderOptions)}".TrimEnd();

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

    private Measurement RunUp(Load load, int seconds)
    {
        string topic = Qsm.NewTopic();
        var responding = new List<Shell>();
        try
        {
            responding.AddRange(Enumerable.Range(2, responders)
                .Select(node => Qsm.Start(testbed, node, "respond", topic, responderOptions)));
            if (responding.Exists(responder => responder.WaitForError("ready", Qsm.Overhead) is null))
            {
                return Measurement.Failed("a responder did not get ready");
            }

            using var requester = Qsm.Start(testbed, 1, "request", topic, RequesterOptions(load, seconds));
            var asked = requester.Wait(TimeSpan.FromSeconds(seconds) + Qsm.Overhead);
            responding.ForEach(responder => responder.Interrupt());
            var responded = responding.ConvertAll(responder => responder.Wait(ResponderLimit));
            return responded.Prepend(asked).FirstOrDefault(process => process.Code != 0) is { } failed
                ? Measurement.Failed(failed.Reason)
                : Read(JsonDocument.Parse(asked.Output).RootElement);
        }
        finally
        {
            responding.ForEach(responder => responder.Dispose());
        }
    }

    private IEnumerable<string> RequesterOptions(Load load, int seconds) =>
    [
        "--size", $"{load.Bytes}", "--seconds", $"{seconds}",
        "--outstanding", outstanding.ToString(CultureInfo.InvariantCulture), "--json",
    ];

    private static Measurement Read(JsonElement report)
    {
        var times = report.GetProperty("roundTripMicros");
        return new Measurement
        {
            MessagesPerSecond = report.GetProperty("messagesPerSecond").GetDouble(),
            P50Micros = times.GetProperty("p50").GetDouble(),
            P99Micros = times.GetProperty("p99").GetDouble(),
            ViewChanges = report.GetProperty("viewChanges").GetDouble(),
        };
    }
}
