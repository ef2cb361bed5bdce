using System.CommandLine;
using System.Diagnostics;
using QuickSilver.Tool.Perf;
using QuickSilver.Tool.Perf.Payloads;
using QuickSilver.Tool.Perf.Senders;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands.Perf;

// Sends as fast as flow control allows, or at a given rate: for so long, or so many.
internal static class PerfSendCommand
{
    private const int BesideBytes = 1000;
    private static readonly TimeSpan DrainLimit = TimeSpan.FromMinutes(1);

    public static Command Create()
    {
        var common = new CommonOptions();
        var topic = PerfCommand.Topic();
        var size = PerfCommand.Size(1000);
        var form = new PayloadFormOptions();
        var seconds = PerfCommand.Seconds();
        var count = new Option<long?>("--count")
        {
            Description = "Send exactly this number of messages, in addition to the warm-up, instead of sending for --seconds.",
            HelpName = "N",
        }.Within(1, long.MaxValue / 2);
        var rate = PerfCommand.Rate("Messages per second. By default, as many as flow control allows.");
        var topics = PerfCommand.Topics();
        var receivers = new Option<int>("--receivers")
        {
            Description = "The number of receivers to wait for.",
            HelpName = "R",
            DefaultValueFactory = _ => 1,
        }.Within(0, 100_000);
        var warmUp = new Option<double>("--warm-up")
        {
            Description = "The time to send before measuring, so that compilation and the growth of windows are not measured. On a "
                + "busy machine, .NET needs about 10 seconds to compile the hot code in its last tier.",
            HelpName = "S",
            DefaultValueFactory = _ => 3,
        }.Within(0, 86_400);
        var feed = new Option<bool>("--feed")
        {
            Description = "Let the node pull messages when the network has room (a feed for each topic), instead of "
                + "publishing them from a task.",
        };
        var beside = PerfCommand.Beside("Publish to this topic too, from the same node, while TOPIC is measured. It is not measured.");
        var besideRate = new Option<double>("--beside-rate")
        {
            Description = "Messages per second to the topic beside; each has 1,000 bytes.",
            HelpName = "MSGS",
            DefaultValueFactory = _ => 10_000,
        }.Within(0.001, 1e9);
        var json = PerfCommand.Json();
        var command = form.AddTo(common.AddTo(new Command("send", "Send to perf receive. Waits for it without a limit of time.")
        {
            topic, size, seconds, count, warmUp, rate, feed, topics, receivers, beside, besideRate, json,
        }));
        Bounds.Exclude(command, count, seconds);
        Bounds.Exclude(command, feed, rate);
        Bounds.Require(command, besideRate, beside);
        form.Exclude(command, size);
        command.SetAction(parse =>
        {
            var plan = new Plan(parse.GetValue(topic)!, new SendLength(parse.GetValue(seconds), parse.GetValue(count)),
                parse.GetValue(warmUp), parse.GetValue(rate), parse.GetValue(feed), parse.GetValue(topics),
                parse.GetValue(receivers), parse.GetValue(beside), parse.GetValue(besideRate), parse.GetValue(json));
            return Session.RunAsync(parse, common, session => form.Read(parse) switch
            {
                PayloadForm.Typed => RunAsync<Departure, DeparturePayload>(session, plan, new()),
                PayloadForm.TypedText => RunAsync<TextDeparture, TextDeparturePayload>(session, plan, new()),
                _ => RunAsync<ReadOnlyMemory<byte>, BytesPayload>(session, plan, new(parse.GetValue(size))),
            });
        });
        return command;
    }

    private static async Task<int> RunAsync<T, TPayload>(Session session, Plan plan, TPayload payload)
        where TPayload : struct, IPerfPayload<T>
    {
        await using var node = await session.StartNodeAsync();
        await using var topics = await PerfTopics.OpenAsync(
            plan.Topic, plan.Topics, name => session.OpenPublisherAsync<T>(node, name));
        await using var barrier = await session.OpenPublisherAsync(node, PerfTopics.Barrier(plan.Topic));
        await session.WaitForSubscribersAsync(barrier, plan.Receivers);
        for (int i = 0; i < topics.Count; i++)
        {
            await topics[i].WaitForSubscribersAsync(plan.Receivers, session.Interrupted);
        }

        await using var beside = await OpenBesideAsync(session, node, plan);
        using var feeds = plan.Feed ? new FeedingSender<T, TPayload>(topics, payload) : null;
        Sender<T, TPayload> sender = feeds ?? (Sender<T, TPayload>)new PublishingSender<T, TPayload>(topics, payload, plan.Rate);
        await sender.SendAsync(new SendLength(plan.WarmUp, null), null, session.Interrupted);
        await sender.MarkBeginAsync();
        long before = sender.Sent;
        var readingBefore = NodeReading.Of(node);
        var start = ProcessUsage.Now();
        var steady = new Steady(start);
        await sender.SendAsync(plan.Length, steady, session.Interrupted);
        long sent = sender.Sent - before;
        double allocated = steady.AllocatedBytesPerMessage(ProcessUsage.Now(), sender.Sent);
        await sender.MarkEndAsync();
        await (beside?.StopAsync() ?? Task.CompletedTask);
        bool stable = await DrainWithin.LimitAsync(DrainLimit, node.DrainAsync);
        double seconds = Stopwatch.GetElapsedTime(start.AtTicks).TotalSeconds;
        var end = ProcessUsage.Now();
        var reading = NodeReading.Of(node);
        var report = new PerfReport
        {
            Sent = sent,
            Gaps = 0,
            Duplicates = 0,
            Stable = stable,
            AllocatedBytesPerMessage = allocated,
            Topics = topics.Count,
            OpenSeconds = topics.OpenSeconds,
            BesideMessages = beside?.Sent,
        };
        report.WithPayload(reading.Counters.Published, reading.Counters.PublishedBytes)
            .WithRate(sent, seconds)
            .WithUsage(start, end)
            .WithCounters(readingBefore, reading, node)
            .Print(plan.Json);
        if (session.Interrupted.IsCancellationRequested)
        {
            return ExitCode.Interrupted;
        }

        return stable ? ExitCode.Ok : ExitCode.Failed;
    }

    private static async Task<BesideSender?> OpenBesideAsync(Session session, QuickSilverNode node, Plan plan)
    {
        if (plan.Beside is null)
        {
            return null;
        }

        var topic = await session.OpenPublisherAsync(node, plan.Beside);
        await session.WaitForSubscribersAsync(topic, plan.Receivers);
        return new BesideSender(topic, BesideBytes, plan.BesideRate);
    }

    private sealed record Plan(
        string Topic, SendLength Length, double WarmUp, double? Rate, bool Feed, int Topics, int Receivers, string? Beside,
        double BesideRate, bool Json);
}
