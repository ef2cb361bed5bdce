using System.Collections.Concurrent;
using System.IO.Pipelines;
using System.Text;

namespace QuickSilver.Groups.Tests.States;

// Groups with a state on threads: the calls of a handler come one at a time, and all members have the same.
public sealed class InMemoryStateTests
{
    private const string Name = "books";
    private const int Messages = 2_000;
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(1);

    [Fact]
    public async Task Members_that_join_while_others_send_have_the_same_state()
    {
        var stop = TestContext.Current.CancellationToken;
        var network = new InMemoryNetwork();
        await using var one = await network.StartNodeAsync();
        await using var two = await network.StartNodeAsync();
        await using var three = await network.StartNodeAsync();
        var (firstState, secondState, thirdState) = (new Texts(), new Texts(), new Texts());
        await using var first = await one.OpenGroupAsync<string>(Name, firstState, cancellationToken: stop).WaitAsync(Limit, stop);
        var sending = SendAsync(first, "first");
        await using var second = await two.OpenGroupAsync<string>(Name, secondState, cancellationToken: stop).WaitAsync(Limit, stop);
        var sendingToo = SendAsync(second, "second");
        await using var third = await three.OpenGroupAsync<string>(Name, thirdState, cancellationToken: stop).WaitAsync(Limit, stop);
        await Task.WhenAll(sending, sendingToo).WaitAsync(Limit, stop);
        Texts[] states = [firstState, secondState, thirdState];
        await Task.WhenAll(states.Select(static state => state.HasAll)).WaitAsync(Limit, stop);

        Assert.All(states, state => Assert.Equal(firstState.Lines, state.Lines));
        Assert.All(states, static state => Assert.False(state.WasBeside));
    }

    private static async Task SendAsync(IGroup<string> group, string name)
    {
        for (int i = 0; i < Messages; i++)
        {
            await group.SendAsync($"{name} {i}");
        }
    }

    private sealed class Texts : IGroupHandler<string>
    {
        private readonly TaskCompletionSource _all = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private int _calls;

        public ConcurrentQueue<string> Lines { get; } = new();

        public Task HasAll => _all.Task;

        public bool WasBeside { get; private set; }

        public async ValueTask OnEventAsync(GroupEvent<string> one, CancellationToken cancellationToken)
        {
            Enter();
            if (one.TryGetMessage(out string? text))
            {
                Lines.Enqueue(text);
            }

            if (Lines.Count % 100 == 0)
            {
                await Task.Yield();
            }

            Leave();
        }

        public async ValueTask WriteStateAsync(PipeWriter to, CancellationToken cancellationToken)
        {
            Enter();
            await Task.Yield();
            await to.WriteAsync(Encoding.UTF8.GetBytes(string.Concat(Lines.Select(static line => line + "\n"))), cancellationToken);
            Leave();
        }

        public async ValueTask ReadStateAsync(PipeReader from, GroupView view, CancellationToken cancellationToken)
        {
            Enter();
            Lines.Clear();
            using var reader = new StreamReader(from.AsStream());
            while (await reader.ReadLineAsync(cancellationToken) is { } line)
            {
                Lines.Enqueue(line);
            }

            Leave();
        }

        private void Enter() => WasBeside |= Interlocked.Increment(ref _calls) != 1;

        private void Leave()
        {
            WasBeside |= Interlocked.Decrement(ref _calls) != 0;
            if (Lines.Count == 2 * Messages)
            {
                _all.TrySetResult();
            }
        }
    }
}
