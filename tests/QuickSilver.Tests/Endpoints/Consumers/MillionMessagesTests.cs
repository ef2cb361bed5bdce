using System.Globalization;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.Endpoints.Consumers;

// A long run with everything at the same time: keys, exceptions, retries, calls that wait, and a stop in the middle.
public sealed class MillionMessagesTests
{
    private const int Messages = 1_000_000;
    private const int Keys = 997;

    [Fact]
    public async Task With_exceptions_retries_and_a_stop_in_the_middle_a_million_messages_are_counted_and_keep_their_order_per_key()
    {
        await using var bench = await ConsumerBench.StartAsync();
        // What was handled last, by key. No lock: messages of one key are handled one after another.
        var last = new int[Keys];
        int disorder = 0;
        var attempts = new byte[Messages + 1];
        var isLost = new bool[Messages + 1];
        int dead = 0;
        long lost = 0;
        var options = new ConsumerOptions<string>
        {
            Concurrency = 8,
            OnError = ConsumerErrors.Retry(2, TimeSpan.Zero).ThenSkip(),
            OnDeadLetter = (_, _) =>
            {
                Interlocked.Increment(ref dead);
                return default;
            },
            // While there is no consumer, the buffer keeps the newest messages only.
            OnGap = gap =>
            {
                Interlocked.Add(ref lost, gap.Count);
                for (long number = gap.First; number <= gap.Last; number++)
                {
                    isLost[number] = true;
                }
            },
        }.WithKey(static text => NumberOf(text) % Keys);

        async ValueTask ConsumeAsync(Message<string> message, CancellationToken stop)
        {
            int number = NumberOf(message.Value);
            if (++attempts[number] <= FaultsOf(number))
            {
                throw new IOException("random");
            }

            if (number % 1000 == 0)
            {
                await Task.Yield();
            }

            if (last[number % Keys] >= number)
            {
                Interlocked.Increment(ref disorder);
            }

            last[number % Keys] = number;
        }

        long Sum(Func<IConsumption, long> count, params IConsumption[] consumptions) => consumptions.Sum(count);

        await using var first = bench.Topic.Subscribe(ConsumeAsync, options);
        var delivered = bench.DeliverAsync(Messages);
        await Patience.Until(() => first.Handled > Messages / 5);
        await first.DisposeAsync();
        Assert.Equal(first.Abandoned, (await first.Completion).Unhandled);

        await using var second = bench.Topic.Subscribe(ConsumeAsync, options);
        await delivered;
        await Patience.Until(() => Sum(static one => one.Handled + one.Skipped, first, second) + Interlocked.Read(ref lost) >= Messages);

        int[] handled = [.. Enumerable.Range(1, Messages).Where(number => attempts[number] > 0 && !isLost[number])];
        // Those that the first consumer gave up between two attempts.
        int[] givenUp = [.. Enumerable.Range(1, Messages).Where(number => attempts[number] > 0 && isLost[number])];

        Assert.Equal(Messages, handled.Length + lost);
        Assert.All(handled, number => Assert.Equal(Math.Min(FaultsOf(number), 2) + 1, attempts[number]));
        int skipped = handled.Count(number => FaultsOf(number) == 3);
        Assert.True(skipped > 0);
        Assert.Equal(
            (handled.Length - skipped, skipped, skipped,
                handled.Sum(number => Math.Min(FaultsOf(number), 2)) + givenUp.Sum(number => attempts[number] - 1)),
            (Sum(static one => one.Handled, first, second), Sum(static one => one.Skipped, first, second), dead,
                Sum(static one => one.Retried, first, second)));
        Assert.Equal(0, disorder);
    }

    private static int NumberOf(string text) => int.Parse(text, CultureInfo.InvariantCulture);

    // One of a hundred fails once, twice or always.
    private static int FaultsOf(int number) => number * 7919L % 100 == 0 ? 1 + (number / 100 % 3) : 0;
}
