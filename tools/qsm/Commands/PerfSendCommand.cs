using System.CommandLine;
using System.Diagnostics;
using QuickSilver.Tool.Perf;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands;

// Sends as fast as flow control allows, or at a given rate, from one thread and one payload buffer.
internal static class PerfSendCommand
{
    // Where messages go as fast as they can, one in so many carries its send time, and the clock decides about the end.
    private const int UnstampedRun = 64;
    private static readonly TimeSpan DrainLimit = TimeSpan.FromMinutes(1);

    public static Command Create()
    {
        var common = new CommonOptions();
        var topic = PerfCommand.Topic();
        var size = PerfCommand.Size(1000);
        var seconds = PerfCommand.Seconds();
        var rate = PerfCommand.Rate("Messages a second; as many as flow control allows where it is not given.");
        var topics = PerfCommand.Topics();
        var receivers = new Option<int>("--receivers")
        {
            Description = "Wait for so many receivers.",
            HelpName = "R",
            DefaultValueFactory = _ => 1,
        }.Within(0, 100_000);
        var warmUp = new Option<double>("--warmup")
        {
            Description = "Send for so long before it is measured: compiling and opening windows is not what a running system costs.",
            HelpName = "S",
            DefaultValueFactory = _ => 3,
        }.Within(0, 86_400);
        var json = PerfCommand.Json();
        var command = common.AddTo(new Command("send", "Send to perf receive.")
        {
            topic, size, seconds, warmUp, rate, topics, receivers, json,
        });
        command.SetAction(parse =>
        {
            var plan = new Plan(parse.GetValue(topic)!, parse.GetValue(size), parse.GetValue(seconds), parse.GetValue(warmUp),
                parse.GetValue(rate), parse.GetValue(topics), parse.GetValue(receivers));
            return Session.RunAsync(parse, common, session => RunAsync(session, plan, parse.GetValue(json)));
        });
        return command;
    }

    private static async Task<int> RunAsync(Session session, Plan plan, bool json)
    {
        await using var node = await session.StartNodeAsync();
        await using var topics = await PerfTopics.OpenAsync(session, node, plan.Topic, plan.Topics, TopicAccess.Publish);
        await using var barrier = await session.OpenAsync(node, PerfTopics.Barrier(plan.Topic), TopicAccess.Publish);
        await session.WaitForSubscribersAsync(barrier, plan.Receivers);
        for (int i = 0; i < topics.Count; i++)
        {
            await topics[i].WaitForSubscribersAsync(plan.Receivers, session.Interrupted);
        }

        long before = await SendAsync(topics, plan, plan.WarmUp, 0, null, session.Interrupted);
        await MarkAsync(topics, plan, static (payload, _) => PerfMessage.WriteBegin(payload), before);
        var start = ProcessUsage.Now();
        var steady = new Steady(start);
        long all = await SendAsync(topics, plan, plan.Seconds, before, steady, session.Interrupted);
        long sent = all - before;
        double allocated = steady.AllocatedBytesPerMessage(ProcessUsage.Now(), all);
        await MarkAsync(topics, plan, static (payload, last) => PerfMessage.WriteEnd(payload, last), all);
        bool stable = await node.DrainAsync(DrainLimit);
        double seconds = Stopwatch.GetElapsedTime(start.AtTicks).TotalSeconds;
        var end = ProcessUsage.Now();
        var report = new PerfReport
        {
            Sent = sent,
            Gaps = 0,
            Duplicates = 0,
            Stable = stable,
            AllocatedBytesPerMessage = allocated,
            Topics = topics.Count,
            OpenSeconds = topics.OpenSeconds,
        };
        report.WithRate(sent, sent * plan.Size, seconds).WithUsage(start, end).WithCounters(node.GetCounters()).Print(json);
        if (session.Interrupted.IsCancellationRequested)
        {
            return ExitCode.Interrupted;
        }

        return stable ? ExitCode.Ok : ExitCode.Failed;
    }

    // The loop that is measured: it awaits only where the node has no room, so it allocates nothing while it flows.
    private static async Task<long> SendAsync(
        PerfTopics topics, Plan plan, double seconds, long sent, Steady? steady, CancellationToken stop)
    {
        byte[] payload = new byte[plan.Size];
        Pace? pace = plan.Rate is double rate ? new Pace(rate) : null;
        long begun = sent;
        long startTicks = Stopwatch.GetTimestamp();
        long steadyTicks = startTicks + (long)(Math.Min(1, seconds / 5) * Stopwatch.Frequency);
        long endTicks = startTicks + (long)(seconds * Stopwatch.Frequency);
        int topic = (int)(sent % topics.Count);
        long number = (sent / topics.Count) + 1;
        for (long now = startTicks; now < endTicks && !stop.IsCancellationRequested; now = Stopwatch.GetTimestamp())
        {
            if (now >= steadyTicks && steady is { HasBegun: false })
            {
                steady.Begin(sent);
            }

            for (int i = pace is null ? UnstampedRun : 1; i > 0; i--)
            {
                pace?.WaitFor(sent - begun);
                PerfMessage.Write(payload, i == 1 ? Stopwatch.GetTimestamp() : 0, number);
                ValueTask accepted = topics[topic].PublishAsync(payload, CancellationToken.None);
                if (!accepted.IsCompletedSuccessfully)
                {
                    await accepted;
                }

                sent++;
                if (++topic == topics.Count)
                {
                    topic = 0;
                    number++;
                }
            }
        }

        return sent;
    }

    private static async Task MarkAsync(PerfTopics topics, Plan plan, Action<byte[], long> write, long sent)
    {
        byte[] payload = new byte[plan.Size];
        for (int i = 0; i < topics.Count; i++)
        {
            write(payload, (sent / topics.Count) + (i < sent % topics.Count ? 1 : 0));
            await topics[i].PublishAsync(payload, CancellationToken.None);
        }
    }

    private sealed record Plan(string Topic, int Size, double Seconds, double WarmUp, double? Rate, int Topics, int Receivers);
}
