using Microsoft.Extensions.Logging;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Simulation.Tests.Clusters.Requests;

// What is said of requests without an answer, on both sides.
public sealed class RequestEndTests : IDisposable
{
    private const string Name = "sums";
    private const int LeftRequests = 1930;
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private readonly RecordingLogs _logs = new();
    private int _cancelled;
    private readonly SimulatedCluster _cluster;
    private readonly IRequester<string, string> _requester;

    public RequestEndTests()
    {
        _cluster = new SimulatedCluster(new SimulationOptions { Nodes = 3, Seed = 7, LoggerFactory = _logs });
        _cluster.Start();
        _requester = _cluster.RunUntilCompleted(
            Node(0).OpenRequesterAsync<string, string>(Name, new RequesterOptions { Timeout = Second * 20 }));
    }

    public void Dispose() => _cluster.Dispose();

    [Fact]
    public void A_deadline_names_the_responders_that_did_not_answer_and_not_those_that_left()
    {
        var leaving = Respond(1);
        Respond(2);
        _cluster.RunUntilCompleted(() => _requester.WaitForRespondersAsync(2));
        var one = Ask(requester => requester.AskAsync("x"));
        var all = Ask(requester => requester.AskAllAsync("x"));
        _cluster.Run(Second);
        _cluster.Nodes[1].Post(async () => await leaving.DisposeAsync());
        _cluster.Eventually("the deadline passes", () => one.IsCompleted && all.IsCompleted, Second * 30);

        var late = Assert.IsType<RequestTimeoutException>(one.Exception!.InnerException);
        Assert.Contains($"within 20 s from the responder {InWords(2)}. ", late.Message, StringComparison.Ordinal);
        Assert.DoesNotContain($"{Node(1).Id}", late.Message, StringComparison.Ordinal);
        var replies = _cluster.RunUntilCompleted(all).ToDictionary(static reply => reply.Responder);
        Assert.IsType<ResponderLeftException>(replies[Node(1).Id].Error);
        late = Assert.IsType<RequestTimeoutException>(replies[Node(2).Id].Error);
        Assert.Equal($"{InWords(2)}: {late.Message}", $"{replies[Node(2).Id]}");
    }

    [Fact]
    public void A_deadline_soon_after_the_news_that_all_left_says_that_they_left()
    {
        const int Requests = 40;
        var leaving = Respond(1);
        _cluster.RunUntilCompleted(() => _requester.WaitForRespondersAsync(1));
        var open = Enumerable.Range(1, Requests).Select(i => Ask(requester => requester.AskAsync("x", Second * i / 20))).ToList();
        // Its handlers have begun, and so it leaves a second later.
        _cluster.Run(Second / 30);
        _cluster.Nodes[1].Post(async () => await leaving.DisposeAsync());
        int late = 0;
        int left = 0;
        while (open.Count > 0)
        {
            bool hasLeft = _requester.Responders == 0;
            _cluster.Run(Second / 100);
            foreach (var ended in open.Where(static one => one.IsCompleted))
            {
                bool saysSo = ended.Exception!.InnerException is ResponderLeftException;
                Assert.True(saysSo || !hasLeft, ended.Exception.InnerException!.Message);
                late += saysSo ? 0 : 1;
                left += saysSo ? 1 : 0;
            }

            open.RemoveAll(static one => one.IsCompleted);
        }

        Assert.True(late > 0 && left > 0, $"late: {late}, left: {left}");
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_responder_that_ends_logs_how_many_requests_its_handlers_had_not_answered(bool withItsNode)
    {
        var responder = Respond(1);
        _cluster.RunUntilCompleted(() => _requester.WaitForRespondersAsync(1));
        Ask(requester => requester.AskAsync("x"));
        Ask(requester => requester.AskAsync("y"));
        _cluster.Run(Second);
        _cluster.Nodes[1].Post(async () => await (withItsNode ? Node(1).DisposeAsync() : responder.DisposeAsync()));
        _cluster.Run(Second * 10);

        Assert.Equal(2, _cancelled);
        var (level, text) = Assert.Single(LinesOf(LeftRequests));
        Assert.Equal(LogLevel.Warning, level);
        Assert.StartsWith($"The responder of \"{Name}\" ended before", text, StringComparison.Ordinal);
        Assert.EndsWith("(requests: 2).", text, StringComparison.Ordinal);
    }

    [Fact]
    public void A_responder_that_has_answered_everything_logs_nothing_at_its_end()
    {
        var responder = Respond(1, delay: Second);
        _cluster.RunUntilCompleted(() => _requester.WaitForRespondersAsync(1));
        var asked = Ask(requester => requester.AskAsync("x"));
        _cluster.Run(Second / 2);
        _cluster.RunUntilCompleted(async () => await responder.DisposeAsync());
        Assert.Equal("x", _cluster.RunUntilCompleted(asked));
        Assert.Empty(LinesOf(LeftRequests));
    }

    [Fact]
    public void A_token_alone_ends_a_request_to_all()
    {
        Respond(1);
        _cluster.RunUntilCompleted(() => _requester.WaitForRespondersAsync(1));
        using var stop = new CancellationTokenSource();
        var asked = Ask(requester => requester.AskAllAsync("x", stop.Token));
        _cluster.Run(Second);
        stop.Cancel();
        Assert.True(asked.IsCanceled);
    }

    private QuickSilverNode Node(int number) => _cluster.Nodes[number].Node;

    private string InWords(int number) => $"{Node(0).NameOf(Node(number).Id)} ({Node(number).Id})";

    private IResponder Respond(int number, TimeSpan? delay = null) => _cluster.RunUntilCompleted(
        Node(number).OpenResponderAsync<string, string>(
            Name,
            async (request, stop) =>
            {
                using var onCancelled = stop.Register(() => Interlocked.Increment(ref _cancelled));
                await Task.Delay(delay ?? Second * 100, _cluster.Nodes[number].Time, stop);
                return request.Value;
            }));

    private Task<T> Ask<T>(Func<IRequester<string, string>, Task<T>> ask)
    {
        Task<T>? asked = null;
        _cluster.Nodes[0].Post(() =>
        {
            asked = ask(_requester);
            return Task.CompletedTask;
        });
        _cluster.Eventually("the request is made", () => asked is not null);
        return asked!;
    }

    private IEnumerable<(LogLevel Level, string Text)> LinesOf(int id) =>
        _logs.Entries.Where(entry => entry.Id == id).Select(static entry => (entry.Level, entry.Text));
}
