using System.Buffers.Binary;
using System.Diagnostics;
using System.Text.Json;
using QuickSilver;
using QuickSilver.Tests.Infrastructure;

namespace ChurnNode;

// Sends to all topics in turn at a fixed rate; each message is its number within its topic, from 1.
internal static class Publisher
{
    private const int PayloadBytes = 100;
    private static readonly TimeSpan StableLimit = TimeSpan.FromMinutes(1);

    public static async Task<int> RunAsync(QuickSilverNode node, int topics, double rate, double seconds, int followers)
    {
        var open = await Task.WhenAll(Enumerable.Range(0, topics).Select(topic =>
            node.OpenPublisherAsync<ReadOnlyMemory<byte>>(Topics.Data(topic))));
        await Task.WhenAll(open.Select(topic => topic.WaitForSubscribersAsync(followers)));
        Console.Error.WriteLine("ready");
        byte[] payload = new byte[PayloadBytes];
        long[] sent = new long[topics];
        long start = Stopwatch.GetTimestamp();
        for (long due = 0, done = 0; Stopwatch.GetElapsedTime(start).TotalSeconds is var elapsed && elapsed < seconds;)
        {
            for (due = (long)(elapsed * rate); done < due; done++)
            {
                int topic = (int)(done % topics);
                BinaryPrimitives.WriteInt64LittleEndian(payload, ++sent[topic]);
                await open[topic].PublishAsync(payload);
            }

            await Task.Delay(1);
        }

        bool stable = await DrainWithin.LimitAsync(StableLimit, node.DrainAsync);
        Console.Out.WriteLine(JsonSerializer.Serialize(new SentReport(stable, sent), ReportJson.Default.SentReport));
        return stable ? 0 : 1;
    }
}
