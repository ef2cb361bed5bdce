using System.CommandLine;
using System.Diagnostics;
using QuickSilver.Tool.Perf;
using QuickSilver.Tool.Perf.Senders;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands.Perf;

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
        var rate = PerfCommand.Rate("Messages per second. By default, each message waits for the reply to the previous one.");
        var json = PerfCommand.Json();
        const string Purpose = "Measure round trips to perf echo. Waits for it without a limit of time.";
        var command = common.AddTo(new Command("ping", Purpose) { topic, size, seconds, rate, json });
        command.SetAction(parse => Session.RunAsync(parse, common, session => RunAsync(session, parse.GetValue(topic)!,
            new Plan(parse.GetValue(size), parse.GetValue(seconds), parse.GetValue(rate)), parse.GetValue(json))));
        return command;
    }

    private static async Task<int> RunAsync(Session session, string name, Plan plan, bool json)
    {
        await using var node = await session.StartNodeAsync();
        await using var pong = await session.OpenSubscriberAsync(node, PerfEchoCommand.PongTopic(name));
        var replies = new Replies();
        using var handler = pong.SubscribeInline(replies.Take);
        await using var ping = await session.OpenPublisherAsync(node, PerfEchoCommand.PingTopic(name));
        replies.Pings = ping;
        await session.WaitForSubscribersAsync(ping, 1);
        byte[] payload = new byte[plan.Size];
        await WarmUpAsync(ping, replies, payload, session.Interrupted);

        var before = NodeReading.Of(node);
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
        report.WithPayload(replies.Count, replies.Count * plan.Size)
            .WithRate(replies.Count, seconds)
            .WithUsage(start, end)
            .WithCounters(before, NodeReading.Of(node), node)
            .Print(json);
        if (session.Interrupted.IsCancellationRequested)
        {
            return ExitCode.Interrupted;
        }

        if (replies.Others > 0)
        {
            Terminal.Note($"{replies.Others} more answers came: several 'perf echo' of '{name}' are running. The first answer counts.");
        }

        if (replies.Count < sent)
        {
            Terminal.Error($"{sent - replies.Count} of {sent} were not answered within {ReplyLimit.TotalSeconds} s");
        }

        return replies.Count >= sent ? ExitCode.Ok : ExitCode.Failed;
    }

    // Until the first reply: the other side may not know yet that this one listens.
    private static async Task WarmUpAsync(
        ITopicPublisher<ReadOnlyMemory<byte>> ping, Replies replies, byte[] payload, CancellationToken interrupted)
    {
        do
        {
            PerfMessage.Write(payload, Stopwatch.GetTimestamp(), 0);
            await ping.PublishAsync(payload, interrupted);
        }
        while (!replies.Answered.Wait(ReplyLimit, interrupted));
    }

    private static async Task<long> SendAsync(
        ITopicPublisher<ReadOnlyMemory<byte>> ping, Replies replies, byte[] payload, Plan plan, CancellationToken stop)
    {
        long endTicks = Stopwatch.GetTimestamp() + (long)(plan.Seconds * Stopwatch.Frequency);
        if (plan.Rate is not double rate)
        {
            // One after the other: each reply's handler sends the next, as the exchange is what is measured and not this thread.
            replies.ChainUntil(endTicks, payload);
            PerfMessage.Write(payload, Stopwatch.GetTimestamp(), 1);
            await ping.PublishAsync(payload, CancellationToken.None);
            return await replies.EndOfChain.WaitAsync(TimeSpan.FromSeconds(plan.Seconds) + ReplyLimit, stop)
                .ContinueWith(_ => replies.Sent, TaskScheduler.Default);
        }

        var pace = new Pace(rate);
        long sent = 0;
        while (Stopwatch.GetTimestamp() < endTicks && !stop.IsCancellationRequested)
        {
            pace.WaitFor(sent);
            replies.Answered.Reset();
            PerfMessage.Write(payload, Stopwatch.GetTimestamp(), ++sent);
            ValueTask accepted = ping.PublishAsync(payload, CancellationToken.None);
            if (!accepted.IsCompletedSuccessfully)
            {
                await accepted;
            }
        }

        return sent;
    }

    private sealed record Plan(int Size, double Seconds, double? Rate);

    // Records on the core thread; the command's thread waits for its count. A reply to the warm-up is not counted, and of several replies
    // to one message only the first: if each set off the next message of a chain, there would be more of them with each round trip.
    private sealed class Replies
    {
        private readonly TaskCompletionSource _endOfChain = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private long _count;
        private long _last;
        private long _others;
        private long _sent = 1;
        private long _chainEndTicks;
        private byte[]? _chained;

        public ITopicPublisher<ReadOnlyMemory<byte>>? Pings { get; set; }

        public Task EndOfChain => _endOfChain.Task;

        /// <summary>Pings of the chain so far.</summary>
        public long Sent => Volatile.Read(ref _sent);

        public ManualResetEventSlim Answered { get; } = new();

        public LatencyHistogram RoundTrips { get; } = new();

        public long Count => Volatile.Read(ref _count);

        /// <summary>Replies to messages that were replied to before.</summary>
        public long Others => Volatile.Read(ref _others);

        private long Last => Volatile.Read(ref _last);

        public void Take(in Message<ReadOnlyMemory<byte>> message)
        {
            if (!PerfMessage.TryRead(message.Value.Span, out long sentAtTicks, out long sequence))
            {
                return;
            }

            if (sequence > 0 && sequence <= _last)
            {
                Volatile.Write(ref _others, _others + 1);
                return;
            }

            if (sequence > 0)
            {
                RoundTrips.RecordTicks(Stopwatch.GetTimestamp() - sentAtTicks);
                Volatile.Write(ref _count, _count + 1);
                Volatile.Write(ref _last, sequence);
            }

            Chain(sequence);
            if (!Answered.IsSet)
            {
                Answered.Set();
            }
        }

        public void ChainUntil(long endTicks, byte[] payload)
        {
            _chainEndTicks = endTicks;
            Volatile.Write(ref _chained, payload);
        }

        private void Chain(long sequence)
        {
            if (sequence == 0 || Volatile.Read(ref _chained) is not { } payload)
            {
                return;
            }

            long now = Stopwatch.GetTimestamp();
            if (now >= _chainEndTicks)
            {
                _endOfChain.TrySetResult();
                return;
            }

            Volatile.Write(ref _sent, sequence + 1);
            PerfMessage.Write(payload, now, sequence + 1);
            // One message at a time always finds room, so there is nothing to await.
            _ = Pings!.PublishAsync(payload, CancellationToken.None);
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
