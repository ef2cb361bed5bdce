using System.CommandLine;
using QuickSilver.Tool.Perf;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands;

// Receives by handler on the core thread, checks every number, and ends when the sender has ended.
internal static class PerfReceiveCommand
{
    private static readonly TimeSpan WarmUp = TimeSpan.FromSeconds(1);

    public static Command Create()
    {
        var common = new CommonOptions();
        var topic = PerfCommand.Topic();
        var topics = PerfCommand.Topics();
        var count = new Option<long?>("--count") { Description = "End after so many messages.", HelpName = "N" }.Within(1, long.MaxValue);
        var idle = new Option<double>("--idle-seconds")
        {
            Description = "Fail when, once begun, nothing arrives for so long.",
            HelpName = "S",
            DefaultValueFactory = _ => 30,
        }.Within(0.1, 86_400);
        var json = PerfCommand.Json();
        var command = common.AddTo(new Command("receive", "Receive from perf send; start it first. Says 'ready' on standard error.")
        {
            topic, topics, count, idle, json,
        });
        command.SetAction(parse => Session.RunAsync(parse, common, session => RunAsync(
            session, parse.GetValue(topic)!, parse.GetValue(topics),
            new Receiver(parse.GetValue(topics), parse.GetValue(count)),
            TimeSpan.FromSeconds(parse.GetValue(idle)), parse.GetValue(json))));
        return command;
    }

    private static async Task<int> RunAsync(Session session, string name, int count, Receiver receiver, TimeSpan idle, bool json)
    {
        await using var node = await session.StartNodeAsync();
        await using var topics = await PerfTopics.OpenAsync(session, node, name, count, TopicAccess.Subscribe);
        for (int i = 0; i < topics.Count; i++)
        {
            topics[i].Handle(receiver.Topic());
        }

        await using var barrier = await session.OpenAsync(node, PerfTopics.Barrier(name), TopicAccess.Subscribe);
        await barrier.WaitForSubscribersAsync(1, session.Interrupted);
        Terminal.Note("ready");
        receiver.First.Wait(session.Interrupted);
        var start = ProcessUsage.Now();
        var steady = new Steady(start);
        bool done = AwaitEnd(receiver, idle, steady, session.Interrupted);
        var end = ProcessUsage.Now();
        var report = new PerfReport
        {
            Delivered = receiver.Delivered,
            Gaps = receiver.Gaps,
            Duplicates = receiver.Duplicates,
            LatencyMicros = Percentiles.Of(receiver.Latency),
            AllocatedBytesPerMessage = steady.AllocatedBytesPerMessage(end, receiver.Delivered),
            Topics = topics.Count,
            OpenSeconds = topics.OpenSeconds,
        };
        report.WithRate(receiver.Delivered, receiver.Bytes, receiver.Seconds)
            .WithUsage(start, end)
            .WithCounters(node.GetCounters())
            .Print(json);
        return Judge(session, receiver, done, idle);
    }

    // Blocks this thread instead of awaiting, so that waiting allocates nothing that would count as the library's.
    private static bool AwaitEnd(Receiver receiver, TimeSpan idle, Steady steady, CancellationToken interrupted)
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

    private static int Judge(Session session, Receiver receiver, bool done, TimeSpan idle)
    {
        if (session.Interrupted.IsCancellationRequested)
        {
            return ExitCode.Interrupted;
        }

        if (!done)
        {
            Terminal.Error($"nothing arrived for {idle.TotalSeconds} s, and the sender had not ended");
        }

        if (receiver.Malformed > 0)
        {
            Terminal.Error($"{receiver.Malformed} messages were not from perf send");
        }

        return done && receiver.Gaps == 0 && receiver.Duplicates == 0 ? ExitCode.Ok : ExitCode.Failed;
    }
}
