using System.CommandLine;
using System.Diagnostics;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Tool.Perf;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands.Perf;

// Measures request and reply as an application sees it: from the call to the continuation after its await.
internal static class PerfRequestCommand
{
    private const int WarmUp = 2000;
    private static readonly TimeSpan ResponderLimit = TimeSpan.FromMinutes(1);

    public static Command Create()
    {
        var common = new CommonOptions();
        var topic = PerfCommand.Topic();
        var size = PerfCommand.Size(100);
        var seconds = PerfCommand.Seconds();
        var outstanding = new Option<int>("--outstanding")
        {
            Description = "The number of requests that wait for answers at the same time.",
            HelpName = "N",
            DefaultValueFactory = _ => 1,
        }.Within(1, 65_536);
        var json = PerfCommand.Json();
        const string Purpose = "Measure requests to perf respond and their answers. Waits for it without a limit of time.";
        var command = common.AddTo(new Command("request", Purpose) { topic, size, seconds, outstanding, json });
        command.SetAction(parse => Session.RunAsync(parse, common, session => RunAsync(session, parse.GetValue(topic)!,
            new Plan(parse.GetValue(size), parse.GetValue(seconds), parse.GetValue(outstanding)), parse.GetValue(json))));
        return command;
    }

    private static async Task<int> RunAsync(Session session, string name, Plan plan, bool json)
    {
        await using var node = await session.StartNodeAsync();
        var options = new RequesterOptions { MaxOutstanding = plan.Outstanding, WaitForResponder = ResponderLimit };
        await using var requester = await node.OpenRequesterAsync<byte[], byte[]>(name, options, session.Interrupted);
        await requester.WaitForRespondersAsync(1, session.Interrupted);
        byte[] payload = new byte[plan.Size];
        for (int i = 0; i < WarmUp; i++)
        {
            await requester.AskAsync(payload, session.Interrupted);
        }

        var before = NodeReading.Of(node);
        var start = ProcessUsage.Now();
        long endTicks = start.AtTicks + (long)(plan.Seconds * Stopwatch.Frequency);
        var loops = Enumerable.Range(0, plan.Outstanding).Select(
            _ => Task.Run(() => AskAsync(requester, payload, endTicks, session.Interrupted)));
        var results = await Task.WhenAll(loops);
        double seconds = Stopwatch.GetElapsedTime(start.AtTicks).TotalSeconds;
        var end = ProcessUsage.Now();
        var after = NodeReading.Of(node);
        var roundTrips = new LatencyHistogram();
        foreach (var (histogram, _) in results)
        {
            roundTrips.Add(histogram);
        }

        long failed = results.Sum(static one => one.Failed);
        var report = new PerfReport
        {
            Sent = roundTrips.Count + failed,
            Count = roundTrips.Count,
            RoundTripMicros = Percentiles.Of(roundTrips),
            ViewChanges = after.Counters.ConfigurationsApplied - before.Counters.ConfigurationsApplied,
        };
        report.WithPayload(roundTrips.Count, roundTrips.Count * plan.Size)
            .WithRate(roundTrips.Count, seconds)
            .WithUsage(start, end)
            .WithCounters(before, after, node)
            .Print(json);
        if (session.Interrupted.IsCancellationRequested)
        {
            return ExitCode.Interrupted;
        }

        if (failed > 0)
        {
            Terminal.Error($"{Counted.Of(failed, "request")} {(failed == 1 ? "was" : "were")} not answered");
        }

        return failed == 0 ? ExitCode.Ok : ExitCode.Failed;
    }

    private static async Task<(LatencyHistogram RoundTrips, long Failed)> AskAsync(
        IRequester<byte[], byte[]> requester, byte[] payload, long endTicks, CancellationToken stop)
    {
        var roundTrips = new LatencyHistogram();
        long failed = 0;
        long now = Stopwatch.GetTimestamp();
        while (now < endTicks && !stop.IsCancellationRequested)
        {
            try
            {
                await requester.AskAsync(payload, stop);
                long after = Stopwatch.GetTimestamp();
                roundTrips.RecordTicks(after - now);
                now = after;
            }
            catch (RequestException)
            {
                failed++;
                now = Stopwatch.GetTimestamp();
            }
            catch (OperationCanceledException) when (stop.IsCancellationRequested)
            {
                break;
            }
        }

        return (roundTrips, failed);
    }

    private sealed record Plan(int Size, double Seconds, int Outstanding);
}
