using System.CommandLine;
using System.Diagnostics;
using QuickSilver.Tool.Perf;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands;

// Sends as fast as flow control allows, or at a given rate, from one thread and one payload buffer.
internal static class PerfSendCommand
{
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
        var json = PerfCommand.Json();
        var command = common.AddTo(new Command("send", "Send to perf receive.")
        {
            topic, size, seconds, rate, topics, receivers, json,
        });
        command.SetAction(parse =>
        {
            var plan = new Plan(parse.GetValue(topic)!, parse.GetValue(size), parse.GetValue(seconds), parse.GetValue(rate),
                parse.GetValue(topics), parse.GetValue(receivers));
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

        var start = ProcessUsage.Now();
        (long sent, double allocated) = await SendAsync(topics, plan, start, session.Interrupted);
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
    private static async Task<(long Sent, double AllocatedBytesPerMessage)> SendAsync(
        PerfTopics topics, Plan plan, ProcessUsage start, CancellationToken stop)
    {
        byte[] payload = new byte[plan.Size];
        Pace? pace = plan.Rate is double rate ? new Pace(rate) : null;
        long steadyTicks = start.AtTicks + (long)(Math.Min(1, plan.Seconds / 5) * Stopwatch.Frequency);
        long endTicks = start.AtTicks + (long)(plan.Seconds * Stopwatch.Frequency);
        var steady = new Steady(start);
        long sent = 0;
        for (long now = start.AtTicks; now < endTicks && !stop.IsCancellationRequested; now = Stopwatch.GetTimestamp())
        {
            if (now >= steadyTicks && !steady.HasBegun)
            {
                steady.Begin(sent);
            }

            pace?.WaitFor(sent);
            PerfMessage.Write(payload, (sent / topics.Count) + 1);
            ValueTask accepted = topics[(int)(sent % topics.Count)].PublishAsync(payload, CancellationToken.None);
            if (!accepted.IsCompletedSuccessfully)
            {
                await accepted;
            }

            sent++;
        }

        double allocated = steady.AllocatedBytesPerMessage(ProcessUsage.Now(), sent);
        for (int i = 0; i < topics.Count; i++)
        {
            PerfMessage.WriteEnd(payload, (sent / topics.Count) + (i < sent % topics.Count ? 1 : 0));
            await topics[i].PublishAsync(payload, CancellationToken.None);
        }

        return (sent, allocated);
    }

    private sealed record Plan(string Topic, int Size, double Seconds, double? Rate, int Topics, int Receivers);
}
