using QuickSilver.Core.Background;

namespace QuickSilver.Hosting.Patterns;

// A requester that is injected. The time for which a request waits for the node counts as its own.
internal sealed class HostedRequester<TRequest, TReply>(string name, RequesterOptions options)
    : HostedPart<IRequester<TRequest, TReply>>(name), IRequester<TRequest, TReply>, IDisposable
{
    public int Responders => Current?.Responders ?? 0;

    public int Outstanding => Current?.Outstanding ?? 0;

    public async Task WaitForRespondersAsync(int count, CancellationToken cancellationToken = default)
    {
        OptionRules.CheckSubscribers(count);
        var requester = await Opened.WaitAsync(cancellationToken).ConfigureAwait(SoleThreadContext.IsCurrent);
        await requester.WaitForRespondersAsync(count, cancellationToken).ConfigureAwait(SoleThreadContext.IsCurrent);
    }

    public Task<TReply> AskAsync(TRequest request, CancellationToken cancellationToken = default) =>
        AskAsync(request, options.Timeout, cancellationToken);

    public Task<TReply> AskAsync(TRequest request, TimeSpan timeout, CancellationToken cancellationToken = default) =>
        Current is { } requester
            ? requester.AskAsync(request, timeout, cancellationToken)
            : WhenOpenAsync((one, left) => one.AskAsync(request, left, cancellationToken), timeout, cancellationToken);

    public Task<IReadOnlyList<Reply<TReply>>> AskAllAsync(
        TRequest request, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        Current is { } requester
            ? requester.AskAllAsync(request, timeout, cancellationToken)
            : WhenOpenAsync(
                (one, left) => one.AskAllAsync(request, left, cancellationToken), timeout ?? options.Timeout, cancellationToken);

    // The host owns it: a service into which it is injected does not end it for the others.
    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    public void Dispose()
    {
    }

    protected override Task<IRequester<TRequest, TReply>> OpenOnAsync(QuickSilverNode node, CancellationToken cancellationToken) =>
        node.OpenRequesterAsync<TRequest, TReply>(Name, options, cancellationToken);

    private async Task<TResult> WhenOpenAsync<TResult>(
        Func<IRequester<TRequest, TReply>, TimeSpan, Task<TResult>> ask, TimeSpan timeout, CancellationToken cancellationToken)
    {
        OptionRules.CheckRequestTimeout(timeout);
        long begun = Time.GetTimestamp();
        IRequester<TRequest, TReply> requester;
        try
        {
            requester = await Opened.WaitAsync(timeout, Time, cancellationToken).ConfigureAwait(SoleThreadContext.IsCurrent);
        }
        catch (TimeoutException)
        {
            throw NoResponderException.WithoutNode(Name, timeout);
        }

        var left = timeout - Time.GetElapsedTime(begun);
        return await ask(requester, left > OptionRules.LeastRequestTimeout ? left : OptionRules.LeastRequestTimeout)
            .ConfigureAwait(SoleThreadContext.IsCurrent);
    }
}
