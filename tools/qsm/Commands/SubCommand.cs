using System.CommandLine;
using QuickSilver.Serialization;
using QuickSilver.Tool.Catalog;
using QuickSilver.Tool.Lines;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands;

// Prints each message of its topics as a line: bytes and text byte for byte, and typed messages by the names of their fields.
internal static class SubCommand
{
    // After a signal: what was received is still written, until nothing more has come for a moment.
    private static readonly TimeSpan DrainQuiet = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan DrainLimit = TimeSpan.FromSeconds(5);

    public static Command Create()
    {
        var common = new CommonOptions();
        var topics = new Argument<string[]>("TOPIC") { Description = "The topics to subscribe to.", Arity = ArgumentArity.OneOrMore };
        topics.Validators.Add(Bounds.CheckTopics);
        var count = new Option<long?>("--count") { Description = "Stop after N messages.", HelpName = "N" }.Within(1, long.MaxValue);
        var time = new Option<bool>("--time") { Description = "Start each line with the local time of its receipt." };
        var sinceStart = new Option<bool>("--since-start")
        {
            Description = "Start each line with the seconds since this command began to subscribe.",
        };
        var showTopic = new Option<bool>("--topic") { Description = "Start each line with its topic." };
        var sender = new Option<bool>("--sender") { Description = "Start each line with the node that published it." };
        var json = new Option<bool>("--json")
        {
            Description = "Write one JSON object per message: topic, time, sinceStart, sender, sequence, headers if there are any, and "
                + "value; base64 instead of value for bytes that are not text.",
        };
        var guarantee = new Option<Guarantee?>("--guarantee")
        {
            Description = "The guarantee of a topic that nobody has open. Without it, such a topic is assumed to be Reliable, and a line "
                + "on standard error says so. An open topic has its own.",
            HelpName = "GUARANTEE",
        }.Named();
        var command = common.AddTo(new Command(
            "sub",
            "Print messages as lines, those of a [DataContract] type by the names of their fields. Writes 'ready' to standard error when "
            + "subscribed. It subscribes to any topic, and binds no topic to a type.")
        {
            topics, count, time, sinceStart, showTopic, sender, json, guarantee,
        });
        command.SetAction(parse => Session.RunAsync(parse, common, session =>
        {
            var format = new LineFormat(
                parse.GetValue(json), parse.GetValue(time), parse.GetValue(sinceStart), parse.GetValue(showTopic), parse.GetValue(sender));
            return RunAsync(session, [.. parse.GetValue(topics)!.Distinct()], parse.GetValue(guarantee), parse.GetValue(count), format);
        }));
        return command;
    }

    private static async Task<int> RunAsync(Session session, string[] names, Guarantee? assumed, long? count, LineFormat format)
    {
        await using var node = await session.StartNodeAsync();
        using var stop = new CancellationTokenSource();
        using var output = new LineWriter(StandardOutput.Open(), count);
        var gaps = new GapLog();
        var topics = new List<ITopicSubscriber<ReadOnlyMemory<byte>>>();
        var readers = new List<Task>();
        try
        {
            foreach (string name in names)
            {
                var topic = await session.OpenWatcherAsync(node, name, assumed);
                topics.Add(topic);
                readers.Add(ReadAsync(session, topic, format, output, gaps, stop.Token));
            }

            Terminal.Note("ready");
            await UntilEndAsync(session, output, readers);
        }
        finally
        {
            await stop.CancelAsync();
            foreach (var topic in topics)
            {
                await topic.DisposeAsync();
            }
        }

        await Task.WhenAll(readers);
        return gaps.IsEmpty ? ExitCode.Ok : ExitCode.Failed;
    }

    private static async Task ReadAsync(
        Session session,
        ITopicSubscriber<ReadOnlyMemory<byte>> topic,
        LineFormat format,
        LineWriter output,
        GapLog gaps,
        CancellationToken stop)
    {
        using var view = new PayloadView(session, topic.Name);
        using var line = new MessageLine(format, topic.Name, view);
        await using var messages = topic.ReadAllAsync(gap => gaps.Add(topic.Name, gap), stop).GetAsyncEnumerator(stop);
        try
        {
            while (true)
            {
                ValueTask<bool> next = messages.MoveNextAsync();
                if (!next.IsCompleted)
                {
                    output.Flush();
                }

                if (!await next)
                {
                    break;
                }

                var message = messages.Current;
                await view.PrepareAsync(message.Sender);
                try
                {
                    line.Write(output, message);
                }
                catch (PayloadFormatException exception)
                {
                    gaps.Add(topic.Name, message.Sender, message.Sequence, exception);
                }
            }
        }
        catch (OperationCanceledException) when (stop.IsCancellationRequested)
        {
        }

        output.Flush();
    }

    // Ends at the asked-for count, at a signal (then in order), or when a reader cannot go on, which throws.
    private static async Task UntilEndAsync(Session session, LineWriter output, List<Task> readers)
    {
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(session.Interrupted);
        Task signalled = Task.Delay(Timeout.Infinite, ended.Token);
        Task first = await Task.WhenAny([signalled, output.LimitReached, .. readers]);
        if (readers.Contains(first))
        {
            await first;
            throw new ToolException(ExitCode.Failed, "the subscription ended unexpectedly");
        }

        await ended.CancelAsync();
        if (first == signalled)
        {
            await DrainAsync(output);
        }
    }

    private static async Task DrainAsync(LineWriter output)
    {
        for (TimeSpan waited = TimeSpan.Zero; waited < DrainLimit; waited += DrainQuiet)
        {
            long before = output.Written;
            await Task.Delay(DrainQuiet);
            if (output.Written == before)
            {
                return;
            }
        }
    }

    // Gaps, and messages that cannot be shown, are told as they happen, and make the command fail at its end.
    private sealed class GapLog
    {
        private int _any;

        public bool IsEmpty => Volatile.Read(ref _any) == 0;

        public void Add(string topic, NodeId sender, long sequence, PayloadFormatException exception)
        {
            Volatile.Write(ref _any, 1);
            Terminal.Error($"message {sequence} of {sender} in {topic} is not shown: {exception.Message}");
        }

        public void Add(string topic, GapNotice gap)
        {
            Volatile.Write(ref _any, 1);
            Terminal.Error($"gap in {topic}: {gap.Count} messages of {gap.Sender}, {gap.First} to {gap.Last}: {gap.Reason.InWords()}");
        }
    }
}
