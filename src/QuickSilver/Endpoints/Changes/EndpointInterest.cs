using System.Runtime.CompilerServices;

namespace QuickSilver.Endpoints.Changes;

// The calls of endpoints that are about the topic's subscribers, from any thread.
internal static class EndpointInterest
{
    public static Task WaitAsync(TopicEndpoint endpoint, int count, CancellationToken cancellationToken)
    {
        OptionRules.CheckSubscribers(count);
        endpoint.CheckUsable();
        return endpoint.Topic.Subscribers >= count ? Task.CompletedTask : AwaitAsync(endpoint, count, cancellationToken);
    }

    public static async IAsyncEnumerable<SubscriberChange> WatchAsync(
        TopicEndpoint endpoint, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var topic = endpoint.Topic;
        var watch = new SubscriberWatch(topic.Node);
        topic.Node.Run(() => topic.Interest.Add(endpoint, watch));
        using var ended = topic.Node.Ended.UnsafeRegister(static state => ((SubscriberWatch)state!).End(null), watch);
        try
        {
            await foreach (var change in watch.ReadAsync(cancellationToken).ConfigureAwait(topic.Node.ResumesInContext))
            {
                yield return change;
            }
        }
        finally
        {
            topic.Node.Run(() => topic.Interest.Remove(watch));
        }
    }

    private static async Task AwaitAsync(TopicEndpoint endpoint, int count, CancellationToken cancellationToken)
    {
        var topic = endpoint.Topic;
        var done = new TaskCompletionSource(topic.Node.Completions);
        topic.Node.Run(() => topic.Interest.Await(endpoint, count, done));
        try
        {
            await topic.Node.UntilEndedAsync(done.Task, cancellationToken).ConfigureAwait(topic.Node.ResumesInContext);
        }
        catch (OperationCanceledException)
        {
            done.TrySetCanceled(cancellationToken);
            throw;
        }
    }
}
