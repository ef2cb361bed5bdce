using System.CommandLine;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Membership.Contracts;
using QuickSilver.Serialization;
using QuickSilver.Tool.Catalog;
using QuickSilver.Tool.Lines;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands;

// Each line of standard input is a message: JSON for a typed topic, byte for byte for others. Done when every subscriber holds them all.
internal static class PubCommand
{
    // Longer than any repair takes on a network that works at all; a peer that is gone leaves the view long before.
    private static readonly TimeSpan DrainLimit = TimeSpan.FromMinutes(5);

    // Of a command that ends early.
    private static readonly TimeSpan LastDrain = TimeSpan.FromSeconds(1);

    private const string Unacknowledged = "not all members have acknowledged all of them";

    private const int OpenAttempts = 3;

    private static readonly PayloadSchema Bytes = new("bytes", PayloadSchema.BytesKind, []);

    public static Command Create()
    {
        var common = new CommonOptions();
        var topic = new Argument<string>("TOPIC") { Description = "The topic to publish to." };
        topic.CompleteWith(common, ClusterNames.Topics);
        topic.Validators.Add(Bounds.CheckTopics);
        var receivers = new Option<int>("--receivers")
        {
            Description = "The number of subscribing nodes to wait for before the first line.",
            HelpName = "N",
            DefaultValueFactory = _ => 1,
        }.Within(1, 100_000);
        var noWait = new Option<bool>("--no-wait") { Description = "Do not wait for subscribers. Lines without one are lost." };
        var command = common.AddTo(new Command(
            "pub",
            "Publish each line of standard input. Exits with 0 when all are stable. Lines for a topic that is open with a [DataContract] "
            + "type are JSON objects with its fields. Lines for other topics are sent unchanged.")
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
        var (topic, lines) = await OpenAsync(session, node, name);
        await using var closing = topic;
        if (receivers > 0)
        {
            await session.WaitForSubscribersAsync(topic, receivers);
        }

        long read = 0, count = 0;
        try
        {
            await using var input = Console.OpenStandardInput();
            await foreach (ReadOnlyMemory<byte> line in LineReader.ReadAsync(input, session.Interrupted))
            {
                read++;
                if (lines.Convert(line) is { } payload)
                {
                    await topic.PublishAsync(payload, session.Interrupted);
                    count++;
                }
            }

            if (!await DrainWithin.LimitAsync(DrainLimit, topic.DrainAsync, session.Interrupted))
            {
                Terminal.Error($"{Messages(count)} sent, but not acknowledged by all members within {DrainLimit.TotalMinutes} minutes");
                return ExitCode.Failed;
            }
        }
        catch (OperationCanceledException) when (session.Interrupted.IsCancellationRequested)
        {
            if (await DrainWithin.LimitAsync(LastDrain, topic.DrainAsync))
            {
                Terminal.Note($"{Messages(count)}, interrupted");
            }
            else
            {
                Terminal.Error($"{Messages(count)}, interrupted; {Unacknowledged}");
            }

            return ExitCode.Interrupted;
        }
        catch (PayloadFormatException exception)
        {
            string sent = await EndAsync(topic, count, DrainLimit);
            Terminal.Error($"line {read}: {exception.Message} {sent}.");
            return ExitCode.Failed;
        }
        catch (MessageTooLargeException)
        {
            string sent = await EndAsync(topic, count, LastDrain);
            Terminal.Error($"line {read + 1} exceeds the limit of {LineReader.MaxLineBytes} bytes; {sent}");
            return ExitCode.Failed;
        }

        Terminal.Note($"{Messages(count)}, all stable");
        return ExitCode.Ok;
    }

    // Ends after a line that is not sent, and says what became of those before.
    private static async Task<string> EndAsync(ITopicPublisher<ReadOnlyMemory<byte>> topic, long count, TimeSpan limit) =>
        $"{Messages(count)} sent before it{(await DrainWithin.LimitAsync(limit, topic.DrainAsync) ? "" : $"; {Unacknowledged}")}";

    // With the contract that the topic has. One that no node has open carries bytes.
    private static async Task<(ITopicPublisher<ReadOnlyMemory<byte>> Topic, PayloadLines Lines)> OpenAsync(
        Session session, QuickSilverNode node, string name)
    {
        for (int attempt = 1; ; attempt++)
        {
            var contracts = await TopicCatalog.ReadAsync(session, name);
            AnsweredTopics.CheckPublish(contracts);
            var schema = contracts.Typed is { } contract ? SchemaContract.SchemaOf(contract) : Bytes;
            try
            {
                var lines = new PayloadLines(schema);
                var options = new TopicOptions<ReadOnlyMemory<byte>>(contracts.Options) { Codec = new BorrowedCodec(schema) };
                return (await node.OpenPublisherAsync<ReadOnlyMemory<byte>>(name, options, session.Interrupted), lines);
            }
            catch (ContractMismatchException) when (attempt < OpenAttempts)
            {
                // Another node has opened it meanwhile.
            }
            catch (Exception exception) when (exception is not (OperationCanceledException or ToolException))
            {
                throw ToolException.OnOpen(name, exception, carriesBytes: false);
            }
        }
    }

    private static string Messages(long count) => Counted.Of(count, "message");
}
