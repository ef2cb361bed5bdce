using System.CommandLine;
using QuickSilver.Tool.Lines;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands;

// Each line of standard input is a message, byte for byte; done when every subscriber holds them all.
internal static class PubCommand
{
    // Longer than any repair takes on a network that works at all; a peer that is gone leaves the view long before.
    private static readonly TimeSpan DrainLimit = TimeSpan.FromMinutes(5);

    public static Command Create()
    {
        var common = new CommonOptions();
        var topic = new Argument<string>("TOPIC") { Description = "The topic to publish to." };
        topic.Validators.Add(Bounds.CheckTopics);
        var receivers = new Option<int>("--receivers")
        {
            Description = "The number of subscribers to wait for before the first line.",
            HelpName = "N",
            DefaultValueFactory = _ => 1,
        }.Within(1, 100_000);
        var noWait = new Option<bool>("--no-wait") { Description = "Do not wait for subscribers. Lines without one are lost." };
        var command = common.AddTo(new Command(
            "pub",
            "Publish each line of standard input. Exits with 0 when all are stable. Messages are bytes: a topic that is open with "
            + "another type (string, a [DataContract] type) refuses them.")
        {
            topic, receivers, noWait,
        });
        command.SetAction(parse => Session.RunAsync(parse, common, session =>
            RunAsync(session, parse.GetValue(topic)!, parse.GetValue(noWait) ? 0 : parse.GetValue(receivers))));
        return command;
    }

    private static async Task<int> RunAsync(Session session, string name, int receivers)
    {
        await using var node = await session.StartNodeAsync();
        await using var topic = await session.OpenPublisherAsync(node, name);
        if (receivers > 0)
        {
            await session.WaitForSubscribersAsync(topic, receivers);
        }

        long count = 0;
        try
        {
            await using var input = Console.OpenStandardInput();
            await foreach (ReadOnlyMemory<byte> line in LineReader.ReadAsync(input, session.Interrupted))
            {
                await topic.PublishAsync(line, session.Interrupted);
                count++;
            }

            Task<bool> drained = topic.DrainAsync(DrainLimit);
            if (!await drained.WaitAsync(session.Interrupted))
            {
                Terminal.Error($"{Messages(count)} sent, but not acknowledged by all members within {DrainLimit.TotalMinutes} minutes");
                return ExitCode.Failed;
            }
        }
        catch (OperationCanceledException) when (session.Interrupted.IsCancellationRequested)
        {
            await topic.DrainAsync();
            Terminal.Note($"{Messages(count)}, interrupted");
            return ExitCode.Interrupted;
        }
        catch (MessageTooLargeException)
        {
            await topic.DrainAsync();
            Terminal.Error(
                $"line {count + 1} exceeds the limit of {LineReader.MaxLineBytes} bytes; {Messages(count)} sent before it");
            return ExitCode.Failed;
        }

        Terminal.Note($"{Messages(count)}, all stable");
        return ExitCode.Ok;
    }

    private static string Messages(long count) => count == 1 ? "1 message" : $"{count} messages";
}
