using System.CommandLine;
using System.Text;
using QuickSilver.Tool.Lines;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands;

// Prints each message of its topics as a line, byte for byte.
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
        var showTopic = new Option<bool>("--show-topic") { Description = "Start each line with its topic and a tab." };
        var command = common.AddTo(new Command(
            "sub",
            "Print messages as lines. Writes 'ready' to standard error when subscribed. Messages are bytes: a topic that is open "
            + "with another type (string, a [DataContract] type) is refused.")
        {
            topics, count, showTopic,
        });
        command.SetAction(parse => Session.RunAsync(parse, common, session =>
            RunAsync(session, [.. parse.GetValue(topics)!.Distinct()], parse.GetValue(count), parse.GetValue(showTopic))));
        return command;
    }

    private static async Task<int> RunAsync(Session session, string[] names, long? count, bool showTopic)
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
                var topic = await session.OpenSubscriberAsync(node, name);
                topics.Add(topic);
                byte[] prefix = showTopic ? Encoding.UTF8.GetBytes($"{name}\t") : [];
                readers.Add(ReadAsync(topic, prefix, output, gaps, stop.Token));
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
        ITopicSubscriber<ReadOnlyMemory<byte>> topic, byte[] prefix, LineWriter output, GapLog gaps, CancellationToken stop)
    {
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

                output.Write(prefix, messages.Current.Value.Span);
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

    // Gaps are told as they happen, and make the command fail at its end.
    private sealed class GapLog
    {
        private int _any;

        public bool IsEmpty => Volatile.Read(ref _any) == 0;

        public void Add(string topic, GapNotice gap)
        {
            Volatile.Write(ref _any, 1);
            Terminal.Error($"gap in {topic}: {gap.Count} messages of {gap.Sender}, {gap.First} to {gap.Last}: {gap.Reason.InWords()}");
        }
    }
}
