using QuickSilver.Packages.Tests.Infrastructure;

namespace QuickSilver.Packages.Tests;

// Topics that begin alike, by a program of a user in two processes, against the package alone.
[Collection(nameof(Feed))]
public sealed class PrefixProgramTests(Feed feed)
{
    private const string Program = """
        using System.Runtime.Serialization;
        using QuickSilver;
        using QuickSilver.Serialization;

        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(60));
        var options = new QuickSilverOptions { Cluster = args[1] };
        await using var node = await QuickSilverNode.StartAsync(options, cancellationToken: limit.Token);
        string[] names = ["quotes/UAL", "quotes/DAL", "quotes/LH"];
        if (args[0] == "publish")
        {
            await using var news = await node.OpenPublisherAsync<string>("quotes/news", cancellationToken: limit.Token);
            foreach (string name in names)
            {
                var topic = await node.OpenPublisherAsync<Quote>(name, cancellationToken: limit.Token);
                await topic.WaitForSubscribersAsync(1, limit.Token);
                await topic.PublishAsync(new Bid(name, [new Level(1.5m, 10), new Level(1.4m, 5)]), limit.Token);
                await topic.PublishAsync(new Ask(name, 2m), limit.Token);
            }

            await using var end = await node.OpenSubscriberAsync<string>("end", cancellationToken: limit.Token);
            await foreach (var message in end.ReadAllAsync(limit.Token))
            {
                break;
            }

            Console.WriteLine("published");
            return;
        }

        var got = new List<string>();
        var all = new TaskCompletionSource();
        await using var quotes = await node.OpenPrefixAsync<Quote>(
            "quotes/",
            (topic, message, stop) =>
            {
                lock (got)
                {
                    got.Add($"{topic} {message.Value.GetType().Name} {message.Value.Symbol == topic}");
                    if (got.Count == 2 * names.Length)
                    {
                        all.SetResult();
                    }
                }

                return ValueTask.CompletedTask;
            },
            cancellationToken: limit.Token);
        await all.Task.WaitAsync(limit.Token);
        foreach (string line in got.Order(StringComparer.Ordinal))
        {
            Console.WriteLine(line);
        }

        Console.WriteLine(string.Join(", ", quotes.Topics.Where(one => one.Error is ContractMismatchException).Select(one => one.Name)));
        await using var done = await node.OpenPublisherAsync<string>("end", cancellationToken: limit.Token);
        await done.WaitForSubscribersAsync(1, limit.Token);
        await done.PublishAsync("end", PublishCompletion.Stable, limit.Token);
        try
        {
            await node.OpenTopicAsync<string>("quotes/*");
        }
        catch (ArgumentException refused)
        {
            Console.WriteLine(refused.Message);
        }

        [Subtype(1, typeof(Bid))]
        [Subtype(2, typeof(Ask))]
        public abstract record Quote([property: DataMember(Order = 1)] string Symbol);

        [DataContract]
        public sealed record Bid(string Symbol, [property: DataMember(Order = 2)] List<Level> Levels) : Quote(Symbol);

        [DataContract]
        public sealed record Ask(string Symbol, [property: DataMember(Order = 2)] decimal Price) : Quote(Symbol);

        [DataContract]
        public readonly record struct Level([property: DataMember(Order = 1)] decimal Price, [property: DataMember(Order = 2)] int Size);
        """;

    internal static UserProgram UserProgram { get; } =
        UserProgram.Of("Prefix", NewcomersProject.Kind.Program, Program, ("QuickSilver", Feed.Version));

    [Fact]
    public async Task Topics_to_come_are_subscribed_and_values_are_of_their_subtypes()
    {
        // A name of its own: other clusters may be on this interface.
        string cluster = $"prefix-{Guid.NewGuid():N}";
        string[] written = await Task.WhenAll(
            Task.Run(() => feed.Programs.Run("Prefix", "subscribe", cluster)),
            Task.Run(() => feed.Programs.Run("Prefix", "publish", cluster)));
        Assert.Contains("published", written[1]);
        Assert.StartsWith(
            """
            quotes/DAL Ask True
            quotes/DAL Bid True
            quotes/LH Ask True
            quotes/LH Bid True
            quotes/UAL Ask True
            quotes/UAL Bid True
            quotes/news
            """.ReplaceLineEndings(),
            written[0].ReplaceLineEndings());
        Assert.Contains("OpenPrefixAsync", written[0]);
    }
}
