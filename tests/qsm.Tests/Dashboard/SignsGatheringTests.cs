using System.Text;
using QuickSilver.Membership.Snapshots;
using QuickSilver.Tool.Dashboard;
using QuickSilver.Tool.Sessions;
using QuickSilver.Tool.Top;

namespace QuickSilver.Tool.Tests.Dashboard;

public sealed class SignsGatheringTests : IAsyncDisposable
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(30);

    private readonly CancellationTokenSource _stop = new();
    private readonly SignsBroadcast _broadcast = new(most: 3);
    private readonly History _history = new(most: 100, TimeSpan.FromHours(1));
    private readonly List<string> _notes = [];
    private readonly Source _source = new();
    private Task _running = Task.CompletedTask;

    [Fact]
    public async Task One_gathering_serves_all_browsers()
    {
        var gathering = Start(watched: 1, unwatched: 3_600_000);
        using var one = _broadcast.TryAdd()!;
        using var other = _broadcast.TryAdd()!;
        gathering.Wake();
        var first = await ReadAsync(one);
        Assert.Equal(first, await ReadAsync(other));
        Assert.StartsWith("event: signs", first);
        Assert.Equal(1, _source.Opened);
    }

    [Fact]
    public async Task Without_a_browser_it_asks_slowly_until_one_comes()
    {
        var gathering = Start(watched: 1, unwatched: 3_600_000);
        await _source.AskedAsync(1);
        Assert.Equal(1, _source.Asked);
        using var viewer = _broadcast.TryAdd()!;
        gathering.Wake();
        await _source.AskedAsync(4);
    }

    [Fact]
    public async Task A_new_browser_gets_the_past_and_the_present()
    {
        var gathering = Start(watched: 1, unwatched: 1);
        await _source.AskedAsync(3);
        var frames = gathering.Welcome().Select(static frame => Encoding.UTF8.GetString(frame.Span)).ToList();
        Assert.Equal(["event: history", "event: signs"], frames.Select(static frame => frame.Split('\n')[0]));
        Assert.Contains("\"at\":", frames[0]);
    }

    [Fact]
    public async Task A_service_that_cannot_be_reached_is_reported_once_on_the_terminal_and_asked_again()
    {
        using var viewer = _broadcast.TryAdd()!;
        _source.FailuresLeft = 3;
        var gathering = Start(watched: 1, unwatched: 20);
        Assert.StartsWith("event: trouble\ndata: {\"reason\":\"No answer.\"", await ReadAsync(viewer));
        await _source.AskedAsync(5);
        Assert.Equal(["No answer."], _notes);
        Assert.Equal(4, _source.Opened);
        Assert.Equal(3, _source.Disposed);
        Assert.NotNull(await gathering.ReadAsync(_stop.Token).WaitAsync(Limit));
        Assert.Null(gathering.Trouble);
    }

    [Fact]
    public async Task Signs_that_are_old_are_asked_for_again()
    {
        var gathering = Start(watched: 1, unwatched: 3_600_000);
        await _source.AskedAsync(1);
        var first = await gathering.ReadAsync(_stop.Token).WaitAsync(Limit);
        await Task.Delay(TimeSpan.FromMilliseconds(10));
        var second = await gathering.ReadAsync(_stop.Token).WaitAsync(Limit);
        Assert.NotNull(first);
        Assert.True(second!.Point.At > first.Point.At);
    }

    [Fact]
    public async Task A_first_question_that_is_refused_ends_it()
    {
        _source.FailuresLeft = 1;
        _source.Code = ExitCode.Failed;
        Start(watched: 1, unwatched: 1);
        Assert.Equal("No answer.", (await Assert.ThrowsAsync<ToolException>(() => _running.WaitAsync(Limit))).Message);
        Assert.Equal(1, _source.Disposed);
    }

    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync();
        await _running.ContinueWith(static _ => { }, TaskScheduler.Default);
        Assert.Equal(_source.Opened, _source.Disposed);
        _stop.Dispose();
    }

    private SignsGathering Start(int watched, int unwatched)
    {
        var pace = new GatheringPace(
            TimeSpan.FromMilliseconds(watched), TimeSpan.FromMilliseconds(unwatched), TimeSpan.FromMilliseconds(1));
        var gathering = new SignsGathering(_source.OpenAsync, pace, _broadcast, _history, _notes.Add);
        _running = gathering.RunAsync(_stop.Token);
        return gathering;
    }

    private static async Task<string> ReadAsync(SignsBroadcast.Viewer viewer)
    {
        using var limit = new CancellationTokenSource(Limit);
        return Encoding.UTF8.GetString((await viewer.Frames.ReadAsync(limit.Token)).Span);
    }

    private sealed class Source : ISignsSource
    {
        private readonly SemaphoreSlim _asked = new(0);

        public int Opened { get; private set; }

        public int Disposed { get; private set; }

        public int Asked { get; private set; }

        public int FailuresLeft { get; set; }

        public int Code { get; set; } = ExitCode.Unreachable;

        public Task<ISignsSource> OpenAsync(CancellationToken cancellationToken)
        {
            Opened++;
            return Task.FromResult<ISignsSource>(this);
        }

        /// <summary>Waits for so many more questions.</summary>
        public async Task AskedAsync(int times)
        {
            for (int i = 0; i < times; i++)
            {
                Assert.True(await _asked.WaitAsync(Limit));
            }
        }

        public async Task<ClusterTables> AskAsync(CancellationToken cancellationToken)
        {
            await Task.Yield();
            Asked++;
            _asked.Release();
            return FailuresLeft-- > 0
                ? throw new ToolException(Code, "No answer.")
                : Cluster.At(Asked, Cluster.Reported(1, new NodeSnapshot { SpanMillis = 1_000, Published = Asked }));
        }

        public ValueTask DisposeAsync()
        {
            Disposed++;
            return ValueTask.CompletedTask;
        }
    }
}
