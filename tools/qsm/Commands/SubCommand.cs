using System.CommandLine;
using QuickSilver.Tool.Catalog;
using QuickSilver.Tool.Lines;
using QuickSilver.Tool.Sessions;
using QuickSilver.Tool.Watching;

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
        topics.CompleteWith(common, ClusterNames.Topics);
        var prefix = new Option<bool>("--prefix")
        {
            Description = "Take each TOPIC for the beginning of names, and print all published topics that begin so, also those to come. "
                + "States and requests are left out.",
        };
        var wait = new Option<bool>("--wait")
        {
            Description = "Make senders wait while the output is read too slowly. Without it, no sender waits for this command: messages "
                + "are dropped then, standard error says how many, and the command fails at its end.",
        };
        var count = new Option<long?>("--count") { Description = "Stop after N messages.", HelpName = "N" }.Within(1, long.MaxValue);
        var time = new Option<bool>("--time") { Description = "Start each line with the local time of its receipt." };
        var sinceStart = new Option<bool>("--since-start")
        {
            Description = "Start each line with the seconds since this command began to subscribe.",
        };
        var showTopic = new Option<bool>("--topic") { Description = "Start each line with its topic." };
        var sender = new Option<bool>("--sender") { Description = "Start each line with the node that published it: its name and id." };
        var json = new Option<bool>("--json")
        {
            Description = "Write one JSON object per message: topic, time, sinceStart, sender, senderName, sequence, headers if there are "
                + "any, and value; base64 instead of value for bytes that are not text.",
        };
        var guarantee = new Option<Guarantee?>("--guarantee")
        {
            Description = "The guarantee of a topic that no node has open. Without it, such a topic is assumed to be Reliable, and a line "
                + "on standard error says so. An open topic has its own.",
            HelpName = "GUARANTEE",
        }.Named();
        var command = common.AddTo(new Command(
            "sub",
            "Print messages as lines, those of a [DataContract] type by the names of their fields. Writes 'ready' to standard error when "
            + "subscribed. It subscribes to any topic but states and requests, and binds no topic to a type.")
        {
            topics, prefix, wait, count, time, sinceStart, showTopic, sender, json, guarantee,
        });
        command.SetAction(parse => Session.RunAsync(parse, common, session =>
        {
            var format = new LineFormat(
                parse.GetValue(json), parse.GetValue(time), parse.GetValue(sinceStart), parse.GetValue(showTopic), parse.GetValue(sender));
            var plan = new WatchPlan([.. parse.GetValue(topics)!.Distinct()], parse.GetValue(guarantee), parse.GetValue(wait));
            return RunAsync(session, plan, parse.GetValue(prefix), parse.GetValue(count), format);
        }));
        return command;
    }

    private static async Task<int> RunAsync(Session session, WatchPlan plan, bool arePrefixes, long? count, LineFormat format)
    {
        await using var node = await session.StartNodeAsync();
        using var output = new LineWriter(StandardOutput.Open(), count);
        var missing = new MissingMessages(node);
        var lines = new WatchedLines(session, node, format, output, missing);
        await using ITopicWatch watch = arePrefixes
            ? new PrefixWatch(session, node, plan, lines)
            : new TopicWatch(session, node, plan, lines);
        await watch.BeginAsync();
        Terminal.Note("ready");
        using (missing.ReportFromTimeToTime())
        {
            await UntilEndAsync(session, output, watch.Ended);
            missing.End();
            if (!await watch.StopAsync(DrainLimit))
            {
                missing.AddUnwritten();
            }
        }

        missing.ReportAtEnd();
        return missing.IsEmpty ? ExitCode.Ok : ExitCode.Failed;
    }

    // Ends at the asked-for count, at a signal (then in order), or when a reader cannot continue, which throws.
    private static async Task UntilEndAsync(Session session, LineWriter output, Task readers)
    {
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(session.Interrupted);
        Task signalled = Task.Delay(Timeout.Infinite, ended.Token);
        Task first = await Task.WhenAny(signalled, output.LimitReached, readers);
        if (first == readers)
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
}
