using System.CommandLine;
using System.Diagnostics;
using QuickSilver.Tool.Perf;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands;

// Measures round trips through a topic and back, with one clock: one at a time, or at a rate.
internal static class PerfPingCommand
{
    private static readonly TimeSpan ReplyLimit = TimeSpan.FromSeconds(1);

    public static Command Create()
    {
        var common = new CommonOptions();
        var topic = PerfCommand.Topic();
        var size = PerfCommand.Size(100);
        var seconds = PerfCommand.Seconds();
        var rate = PerfCommand.Rate("Messages a second; where it is not given, each waits for the reply to the one before.");
        var json = PerfCommand.Json();
        var command = common.AddTo(new Command("ping", "Measure round trips to perf echo.") { topic, size, seconds, rate, json });
        command.SetAction(parse => Session.RunAsync(parse, common, session => RunAsync(session, parse.GetValue(topic)!,
            new Plan(parse.GetValue(size), parse.GetValue(seconds), parse.GetValue(rate)), parse.GetValue(json))));
        return command;
    }

    private static async Task<int> RunAsync(Session session, string name, Plan plan, bool json)
    {
        await using var node = await session.StartNodeAsync();
        await using var pong = await session.OpenAsync(node, PerfEchoCommand.PongTopic(name), TopicAccess.Subscribe);
        var replies = new Replies();
        using var handler = pong.Handle(replies.Take);
        await using var ping = await session.OpenAsync(node, PerfEchoCommand.PingTopic(name), TopicAccess.Publish);
        await session.WaitForSubscribersAsync(ping, 1);
        byte[] payload = new byte[plan.Size];
        await WarmUpAsync(ping, replies, payload, session.Interrupted);

        var start = ProcessUsage.Now();
        long sent = await SendAsync(ping, replies, payload, plan, session.Interrupted);
        replies.Await(sent, ReplyLimit);
        double seconds = Stopwatch.GetElapsedTime(start.AtTicks).TotalSeconds;
        var end = ProcessUsage.Now();
        handler.Dispose();
        var report = new PerfReport
        {
            Sent = sent,
            Count = replies.Count,
            RoundTripMicros = Percentiles.Of(replies.RoundTrips),
        };
        report.WithRate(replies.Count, replies.Count * plan.Size, seconds)
            .WithUsage(start, end)
            .WithCounters(node.GetCounters())
            .Print(json);
        if (session.Interrupted.IsCancellationRequested)
        {
            return ExitCode.Interrupted;
        }

        if (replies.Count < sent)
        {
            Terminal.Error($"{sent - replies.Count} of {sent} were not answered within {ReplyLimit.TotalSeconds} s");
        }

        return replies.Count >= sent ? ExitCode.Ok : ExitCode.Failed;
    }

    // Until the first reply: the other side may not know yet that this one listens.
    private static async Task WarmUpAsync(
        ITopic<ReadOnlyMemory<byte>> ping, Replies replies, byte[] payload, CancellationToken interrupted)
    {
        do
        {
            PerfMessage.Write(payload, Stopwatch.GetTimestamp(), 0);
            await ping.PublishAsync(payload, interrupted);
        }
        while (!replies.Answered.Wait(ReplyLimit, interrupted));
    }

    private static async Task<long> SendAsync(
        ITopic<ReadOnlyMemory<byte>> ping, Replies replies, byte[] payload, Plan plan, CancellationToken stop)
    {
        Pace? pace = plan.Rate is double rate ? new Pace(rate) : null;
        long endTicks = Stopwatch.GetTimestamp() + (long)(plan.Seconds * Stopwatch.Frequency);
        long sent = 0;
        while (Stopwatch.GetTimestamp() < endTicks && !stop.IsCancellationRequested)
        {
            pace?.WaitFor(sent);
            replies.Answered.Reset();
            PerfMessage.Write(payload, Stopwatch.GetTimestamp(), ++sent);
            ValueTask accepted = ping.PublishAsync(payload, CancellationToken.None);
            if (!accepted.IsCompletedSuccessfully)
            {
                await accepted;
            }

            if (pace is null)
            {
                replies.Await(sent, ReplyLimit);
            }
        }

        return sent;
    }

    private sealed record Plan(int Size, double Seconds, double? Rate);

    // Records on the core thread; the command's thread waits for its count. A reply to the warm-up is not counted.
    private sealed class Replies
    {
        private long _count;
        private long _last;

        public ManualResetEventSlim Answered { get; } = new();

        public LatencyHistogram RoundTrips { get; } = new();

        public long Count => Volatile.Read(ref _count);

        private long Last => Volatile.Read(ref _last);

        public void Take(in Message<ReadOnlyMemory<byte>> message)
        {
            if (!PerfMessage.TryRead(message.Value.Span, out long sentAtTicks, out long sequence))
            {
                return;
            }

            if (sequence > 0)
            {
                RoundTrips.RecordTicks(Stopwatch.GetTimestamp() - sentAtTicks);
                Volatile.Write(ref _count, _count + 1);
                Volatile.Write(ref _last, sequence);
            }

            Answered.Set();
        }

        // Replies come in order, so the one to the last message is the last.
        public void Await(long sequence, TimeSpan limit)
        {
            long start = Stopwatch.GetTimestamp();
            while (Last < sequence && Stopwatch.GetElapsedTime(start) < limit)
            {
                Answered.Wait(1);
                if (Last < sequence)
                {
                    Answered.Reset();
                }
            }
        }
    }
}
