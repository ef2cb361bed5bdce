using System.CommandLine;
using QuickSilver.Tool.Perf;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands.Perf;

// Sends back what perf ping sends, from the core thread: handler in, attached feed out, nothing in between.
internal static class PerfEchoCommand
{
    public static Command Create()
    {
        var common = new CommonOptions();
        var topic = PerfCommand.Topic();
        var command = common.AddTo(new Command("echo", "Answer perf ping until interrupted. Writes 'ready' to standard error.") { topic });
        command.SetAction(parse => Session.RunAsync(parse, common, session => RunAsync(session, parse.GetValue(topic)!)));
        return command;
    }

    public static string PingTopic(string topic) => $"{topic}/ping";

    public static string PongTopic(string topic) => $"{topic}/pong";

    private static async Task<int> RunAsync(Session session, string name)
    {
        await using var node = await session.StartNodeAsync();
        await using var pong = await session.OpenPublisherAsync(node, PongTopic(name));
        await using var ping = await session.OpenSubscriberAsync(node, PingTopic(name));
        var ring = new EchoRing();
        using var feed = pong.AttachFeed(ring.Pull);
        using var handler = ping.SubscribeInline((in Message<ReadOnlyMemory<byte>> message) =>
        {
            ring.Push(message.Value.Span);
            feed.Signal();
        });
        Terminal.Note("ready");
        try
        {
            await Task.Delay(Timeout.Infinite, session.Interrupted);
        }
        catch (OperationCanceledException) when (session.Interrupted.IsCancellationRequested)
        {
            // Its proper end.
        }

        Terminal.Note($"{ring.Echoed} echoed");
        if (ring.Dropped > 0)
        {
            Terminal.Error($"{ring.Dropped} not echoed: they arrived faster than they could be sent back");
            return ExitCode.Failed;
        }

        return ExitCode.Ok;
    }
}
