using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests.Topics;

// Two openings of one topic on one node, with contracts that differ, while the service has answered neither.
public sealed class ContestedOpeningTests : IAsyncLifetime
{
    private const string Name = "prices";

    private readonly FakeParts _parts = new();
    private QuickSilverNode _node = null!;

    public async ValueTask InitializeAsync()
    {
        _parts.Service.HoldsAnswers = true;
        // As where another node publishes it.
        _parts.Service.Refuse = static request =>
            request.Contract.Guarantee == nameof(Guarantee.BestEffort) ? "It has the guarantee Reliable elsewhere." : null;
        _node = await _parts.StartAsync();
    }

    public ValueTask DisposeAsync() => _parts.DisposeAsync();

    [Fact]
    public async Task An_opening_is_not_refused_because_of_one_that_the_service_refuses()
    {
        var bestEffort = Open(Guarantee.BestEffort);
        var reliable = Open(Guarantee.Reliable);
        await Patience.Until(() => _parts.Service.Answers.Count == 1);
        await AnswerAsync();
        await Assert.ThrowsAsync<ContractMismatchException>(() => bestEffort).OrFail();

        await Patience.Until(() => _parts.Service.Answers.Count == 1);
        await AnswerAsync();
        await using var topic = await reliable.OrFail();
        Assert.Equal((1, 2), (_node.Status.OpenTopics, _parts.Service.Requests.Count));
    }

    [Fact]
    public async Task An_opening_is_refused_when_the_service_grants_the_one_before_it()
    {
        var reliable = Open(Guarantee.Reliable);
        var bestEffort = Open(Guarantee.BestEffort);
        var text = _node.OpenTopicAsync<byte[]>(Name);
        await Patience.Until(() => _parts.Service.Answers.Count == 1);
        await _parts.Core.RunAsync(static () => { });
        Assert.False(bestEffort.IsCompleted);

        await AnswerAsync();
        await using var topic = await reliable.OrFail();
        var refusal = await Assert.ThrowsAsync<ContractMismatchException>(() => bestEffort).OrFail();
        Assert.Contains(" This node has that version open.", refusal.Message, StringComparison.Ordinal);
        await Assert.ThrowsAsync<ContractMismatchException>(() => text).OrFail();
        Assert.Single(_parts.Service.Requests);
        Assert.Equal(1, _node.Status.OpenTopics);
    }

    [Fact]
    public async Task An_opening_that_is_cancelled_while_it_waits_leaves_nothing()
    {
        using var stop = new CancellationTokenSource();
        var bestEffort = Open(Guarantee.BestEffort);
        var reliable = _node.OpenTopicAsync<string>(Name, cancellationToken: stop.Token);
        await Patience.Until(() => _parts.Service.Answers.Count == 1);
        await stop.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => reliable).OrFail();

        await AnswerAsync();
        await Assert.ThrowsAsync<ContractMismatchException>(() => bestEffort).OrFail();
        await _parts.Core.RunAsync(static () => { });
        Assert.Equal((0, 0), (_node.Status.OpenTopics, _parts.Service.Answers.Count));
    }

    [Fact]
    public async Task An_opening_begins_again_when_the_one_before_it_is_cancelled()
    {
        using var stop = new CancellationTokenSource();
        var bestEffort = _node.OpenTopicAsync<string>(Name, new TopicOptions { Guarantee = Guarantee.BestEffort }, stop.Token);
        var reliable = Open(Guarantee.Reliable);
        await Patience.Until(() => _parts.Service.Answers.Count == 1);
        await stop.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => bestEffort).OrFail();

        await Patience.Until(() => _parts.Service.Answers.Count == 2);
        await AnswerAsync();
        await AnswerAsync();
        await using var topic = await reliable.OrFail();
    }

    [Fact]
    public async Task An_opening_that_waits_fails_with_its_node()
    {
        var bestEffort = Open(Guarantee.BestEffort);
        var reliable = Open(Guarantee.Reliable);
        await Patience.Until(() => _parts.Service.Answers.Count == 1);
        await _parts.Core.RunAsync(() => _parts.Service.Observer!.OnGaveUp("It was removed."));
        await Assert.ThrowsAsync<NodeExpelledException>(() => bestEffort).OrFail();
        await Assert.ThrowsAsync<NodeExpelledException>(() => reliable).OrFail();
    }

    private Task<ITopic<string>> Open(Guarantee guarantee) =>
        _node.OpenTopicAsync<string>(Name, new TopicOptions { Guarantee = guarantee });

    private Task AnswerAsync() => _parts.Core.RunAsync(() => _parts.Service.Answers.Dequeue()());
}
