using System.Threading.Tasks.Sources;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests.Endpoints.Consumers;

// Consumers run on the thread pool, so what the whole process allocates is measured.
[Collection(nameof(AllocationTests))]
public sealed class ConsumerAllocationTests
{
    private const string Name = "hot";
    // Few for each round: what the rest of the process allocates depends on the time that a round takes.
    private const int Messages = 2000;
    private const int WarmingRounds = 10;
    private const int Rounds = 60;
    // An object has at least 24 bytes. What is less than one object for ten messages is not of the path but of the pool's threads, which
    // start and end on a busy machine.
    private const long Limit = Messages / 10 * 24;
    private static readonly byte[] Payload = new byte[1000];

    [Theory]
    [InlineData(1, false)]
    [InlineData(1, true)]
    [InlineData(4, false)]
    [InlineData(4, true)]
    public async Task A_consumer_allocates_nothing_per_message(int concurrency, bool isAsynchronous)
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync();
        var topic = await parts.OpenAsync<ReadOnlyMemory<byte>>(node, Name);
        var receiver = parts.ReceiverOf(Name);
        int handled = 0;
        using var one = new SemaphoreSlim(0);
        var pooled = new PooledYield();
        var options = new ConsumerOptions<ReadOnlyMemory<byte>> { Concurrency = concurrency };
        await using var consumption = topic.Subscribe(
            (_, _) =>
            {
                Interlocked.Increment(ref handled);
                one.Release();
                return isAsynchronous && concurrency == 1 ? pooled.Begin() : default;
            },
            concurrency > 1 && isAsynchronous ? options.WithKey(static bytes => bytes.Span[0]) : options);
        int delivered = 0;
        long least = long.MaxValue;
        // What the rest of the process allocates differs from round to round; what the path allocates is in all of them.
        for (int round = 0; round < Rounds && least > Limit; round++)
        {
            long before = GC.GetTotalAllocatedBytes(precise: true);
            for (int i = 0; i < Messages; i++)
            {
                Assert.True(receiver.Deliver(++delivered, Payload));
                one.Wait();
            }

            least = round < WarmingRounds ? least : Math.Min(least, GC.GetTotalAllocatedBytes(precise: true) - before);
        }

        Assert.InRange(least, 0, Limit);
        await Patience.Until(() => consumption.Handled == delivered);
        Assert.Equal(delivered, handled);
    }

    // A value task that completes on another thread, again and again.
    private sealed class PooledYield : IValueTaskSource, IThreadPoolWorkItem
    {
        private ManualResetValueTaskSourceCore<bool> _core;

        public ValueTask Begin()
        {
            _core.Reset();
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
            return new ValueTask(this, _core.Version);
        }

        public void Execute() => _core.SetResult(true);

        public void GetResult(short token) => _core.GetResult(token);

        public ValueTaskSourceStatus GetStatus(short token) => _core.GetStatus(token);

        public void OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
            _core.OnCompleted(continuation, state, token, flags);
    }
}
