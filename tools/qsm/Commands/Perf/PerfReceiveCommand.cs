using System.CommandLine;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Tool.Perf;
using QuickSilver.Tool.Perf.Payloads;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands.Perf;

// Receives by handler on the core thread, or by a reader in a task of the thread pool, checks every number, and ends when the
// sender has ended.
internal static class PerfReceiveCommand
{
    private static readonly TimeSpan WarmUp = TimeSpan.FromSeconds(1);

    public static Command Create()
    {
        var common = new CommonOptions();
        var topic = PerfCommand.Topic();
        var topics = PerfCommand.Topics();
        var count = new Option<long?>("--count") { Description = "Stop after N messages.", HelpName = "N" }.Within(1, long.MaxValue);
        var senders = new Option<int>("--senders")
        {
            Description = "The number of perf send commands that send to the topic at the same time. With several, the time in which all "
                + "of them send is measured, and the report contains each one's rate and Jain's index of fairness.",
            HelpName = "N",
            DefaultValueFactory = _ => 1,
        }.Within(1, 1000);
        var idle = new Option<double>("--idle-seconds")
        {
            Description = "Fail if nothing arrives for this time after the first message.",
            HelpName = "S",
            DefaultValueFactory = _ => 30,
        }.Within(0.1, 86_400);
        var reader = new Option<bool>("--reader")
        {
            Description = "Receive with 'await foreach' on the thread pool, from the endpoint's buffer, instead of with a "
                + "handler on the core thread.",
        };
        var beside = PerfCommand.Beside("Read this topic too, with 'await foreach', while TOPIC is measured. It is not measured.");
        var besideStalls = new Option<bool>("--beside-stalls")
        {
            Description = "Take one message of the topic beside and then read no more, as a program does that is stuck.",
        };
        var form = new PayloadFormOptions();
        var json = PerfCommand.Json();
        var command = form.AddTo(common.AddTo(new Command(
            "receive", "Receive from perf send. Start it first. Writes 'ready' to standard error.")
        {
            topic, topics, senders, count, idle, reader, beside, besideStalls, json,
        }));
        Bounds.Exclude(command, reader, topics);
        Bounds.Exclude(command, senders, topics);
        Bounds.Exclude(command, senders, count);
        Bounds.Require(command, besideStalls, beside);
        command.SetAction(parse =>
        {
            var plan = new Plan(parse.GetValue(topic)!, parse.GetValue(topics), parse.GetValue(senders), parse.GetValue(count),
                TimeSpan.FromSeconds(parse.GetValue(idle)), parse.GetValue(reader), parse.GetValue(beside), parse.GetValue(besideStalls),
                parse.GetValue(json));
            return Session.RunAsync(parse, common, session => form.Read(parse) switch
            {
                PayloadForm.Typed => RunAsync<Departure, DeparturePayload>(session, plan),
                PayloadForm.TypedText => RunAsync<TextDeparture, TextDeparturePayload>(session, plan),
                _ => RunAsync<ReadOnlyMemory<byte>, BytesPayload>(session, plan),
            });
        });
        return command;
    }

    private static async Task<int> RunAsync<T, TPayload>(Session session, Plan plan)
        where TPayload : struct, IPerfPayload<T>
    {
        var receiver = new Receiver<T, TPayload>(plan.Topics, plan.Senders, plan.Count);
        await using var node = await session.StartNodeAsync();
        await using var topics = await PerfTopics.OpenAsync(
            plan.Topic, plan.Topics, name => session.OpenSubscriberAsync<T>(node, name));
        Task reading = Begin(receiver, topics, plan.Reads);
        await using var beside = plan.Beside is null
            ? null
            : new BesideReader(await session.OpenSubscriberAsync(node, plan.Beside), plan.BesideStalls);
        await using var barrier = await session.OpenSubscriberAsync(node, PerfTopics.Barrier(plan.Topic));
        Terminal.Note("ready");
        receiver.First.Wait(session.Interrupted);
        var before = NodeReading.Of(node);
        var start = ProcessUsage.Now();
        var steady = new Steady(start);
        bool done = AwaitEnd(receiver, plan.Idle, steady, session.Interrupted);
        var end = ProcessUsage.Now();
        var after = NodeReading.Of(node);
        if (plan.Reads)
        {
            topics[0].Cancel();
            await reading;
        }

        var report = new PerfReport
        {
            Delivered = receiver.Delivered,
            Gaps = receiver.Gaps,
            Duplicates = receiver.Duplicates,
            LatencyMicros = Percentiles.Of(receiver.Latency),
            AllocatedBytesPerMessage = steady.AllocatedBytesPerMessage(end, receiver.Delivered),
            Topics = topics.Count,
            OpenSeconds = topics.OpenSeconds,
            BesideMessages = beside?.Delivered,
        };
        report.WithPayload(after.Counters.Delivered, after.Counters.DeliveredBytes)
            .WithRate(receiver.Delivered, receiver.Seconds)
            .WithSenders(receiver.BySender)
            .WithUsage(start, end)
            .WithCounters(before, after, node)
            .Print(plan.Json);
        return Judge(session, receiver, done, plan.Idle, after.Counters.Gaps);
    }

    private static Task Begin<T, TPayload>(Receiver<T, TPayload> receiver, PerfTopics<ITopicSubscriber<T>> topics, bool reads)
        where TPayload : struct, IPerfPayload<T>
    {
        if (reads)
        {
            return Task.Run(() => receiver.ReadAsync(topics[0]));
        }

        for (int i = 0; i < topics.Count; i++)
        {
            topics[i].SubscribeInline(receiver.Topic());
        }

        return Task.CompletedTask;
    }

    // Blocks this thread instead of awaiting, so that waiting allocates nothing that would count as the library's.
    private static bool AwaitEnd<T, TPayload>(
        Receiver<T, TPayload> receiver, TimeSpan idle, Steady steady, CancellationToken interrupted)
        where TPayload : struct, IPerfPayload<T>
    {
        try
        {
            if (receiver.Done.Wait(WarmUp, interrupted))
            {
                return true;
            }

            steady.Begin(receiver.Delivered);
            for (long seen = receiver.Delivered; !receiver.Done.Wait(idle, interrupted); seen = receiver.Delivered)
            {
                if (receiver.Delivered == seen)
                {
                    return false;
                }
            }

            return true;
        }
        catch (OperationCanceledException)
        {
            return false;
        }
    }

    private static int Judge<T, TPayload>(Session session, Receiver<T, TPayload> receiver, bool done, TimeSpan idle, long reported)
        where TPayload : struct, IPerfPayload<T>
    {
        if (session.Interrupted.IsCancellationRequested)
        {
            return ExitCode.Interrupted;
        }

        if (!done)
        {
            Terminal.Error($"nothing arrived for {idle.TotalSeconds} s before the sender ended");
        }

        if (receiver.Gaps > 0)
        {
            Terminal.Error($"{Counted.Of(receiver.Gaps, "message")} did not arrive; the node reported {reported} as gaps");
        }

        if (receiver.Malformed > 0)
        {
            Terminal.Error($"{Counted.Of(receiver.Malformed, "message")} {(receiver.Malformed == 1 ? "was" : "were")} not from perf send");
        }

        return done && receiver.Gaps == 0 && receiver.Duplicates == 0 ? ExitCode.Ok : ExitCode.Failed;
    }

    private sealed record Plan(
        string Topic, int Topics, int Senders, long? Count, TimeSpan Idle, bool Reads, string? Beside, bool BesideStalls, bool Json);
}
