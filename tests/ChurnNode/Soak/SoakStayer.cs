using System.Globalization;
using QuickSilver;

namespace ChurnNode.Soak;

// A member that stays for all of a soak: it answers requests, holds a state, subscribes to all topics of those that come and go, and
// exchanges steady streams with the others that stay.
//
// Input: "measure" writes its footprint to standard output; "count" writes how many messages of lives have come, and what was wrong with
// the steady streams; the end of the input ends it.
internal static class SoakStayer
{
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(10);
    private static long _ofLives;
    private static string? _fault;

    public static async Task<int> RunAsync(QuickSilverOptions options, int stayers, int index)
    {
        using var logs = NodeStart.Logs();
        await using var node = await QuickSilverNode.StartAsync(options, logs);
        await using var responder = await node.OpenResponderAsync<string, string>(
            SoakTopics.Request, (request, _) => ValueTask.FromResult(request.Value));
        await using var state = await node.OpenStateAsync<string, string>(SoakTopics.State);
        await using var lives = await node.OpenPrefixAsync<string>(SoakTopics.Prefix, (_, _, _) =>
        {
            Interlocked.Increment(ref _ofLives);
            return ValueTask.CompletedTask;
        });
        var streams = new List<ITopicSubscriber<string>>();
        for (int stayer = 0; stayer < stayers; stayer++)
        {
            streams.Add(await ReadAsync(node, stayer));
        }

        await using var steady = await node.OpenPublisherAsync<string>(SoakTopics.Steady(index));
        await steady.WaitForSubscribersAsync(stayers);
        using var end = new CancellationTokenSource();
        var sending = SendAsync(steady, end.Token);
        Console.Out.WriteLine("ready");
        while (await Task.Run(Console.In.ReadLine) is { } verb)
        {
            switch (verb)
            {
                case "measure":
                    Console.Out.WriteLine(Footprint.Measure());
                    break;
                case "count":
                    long count = Interlocked.Read(ref _ofLives);
                    string fault = Volatile.Read(ref _fault) ?? "none";
                    Console.Out.WriteLine(string.Create(CultureInfo.InvariantCulture, $"count {count} {state.IsComplete} fault {fault}"));
                    break;
            }
        }

        await end.CancelAsync();
        await sending;
        foreach (var stream in streams)
        {
            await stream.DisposeAsync();
        }

        return 0;
    }

    private static async Task<ITopicSubscriber<string>> ReadAsync(QuickSilverNode node, int stayer)
    {
        var topic = await node.OpenSubscriberAsync<string>(SoakTopics.Steady(stayer));
        long last = 0;
        topic.SubscribeInline(
            (in Message<string> message) =>
            {
                long number = long.Parse(message.Value, CultureInfo.InvariantCulture);
                if (last != 0 && number != last + 1)
                {
                    Interlocked.CompareExchange(ref _fault, $"{number} came after {last} of stayer {stayer}", null);
                }

                last = number;
            },
            gap => Interlocked.CompareExchange(ref _fault, $"gap {gap.First}-{gap.Last} of stayer {stayer}: {gap.Reason}", null));
        return topic;
    }

    private static async Task SendAsync(ITopicPublisher<string> topic, CancellationToken end)
    {
        for (long number = 1; !end.IsCancellationRequested; number++)
        {
            await topic.PublishAsync(number.ToString(CultureInfo.InvariantCulture), CancellationToken.None);
            await Task.Delay(Interval, end).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }
}
