using System.CommandLine;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands.Perf;

// Answers what perf request asks, with the bytes of the request.
internal static class PerfRespondCommand
{
    public static Command Create()
    {
        var common = new CommonOptions();
        var topic = PerfCommand.Topic();
        var inline = new Option<bool>("--inline") { Description = "Answer on the core thread of the node." };
        var command = common.AddTo(
            new Command("respond", "Answer perf request until interrupted. Writes 'ready' to standard error.") { topic, inline });
        command.SetAction(parse => Session.RunAsync(
            parse, common, session => RunAsync(session, parse.GetValue(topic)!, parse.GetValue(inline))));
        return command;
    }

    private static async Task<int> RunAsync(Session session, string name, bool inline)
    {
        await using var node = await session.StartNodeAsync();
        var options = new ResponderOptions { Inline = inline };
        await using var responder = await node.OpenResponderAsync<byte[], byte[]>(
            name, static (request, _) => new ValueTask<byte[]>(request.Value), options, session.Interrupted);
        Terminal.Note("ready");
        try
        {
            await Task.Delay(Timeout.Infinite, session.Interrupted);
        }
        catch (OperationCanceledException) when (session.Interrupted.IsCancellationRequested)
        {
            // Its proper end.
        }

        Terminal.Note($"{responder.Answered} answered");
        return ExitCode.Ok;
    }
}
