using QuickSilver.Endpoints;
using QuickSilver.Membership.Contracts;
using QuickSilver.Serialization;
using QuickSilver.Topics;

namespace QuickSilver.Nodes;

// The opening of an endpoint, from the thread of its caller: it is created on the core thread, and waits for access and for a view.
internal static class EndpointOpening
{
    public static async Task<TTopic> OpenAsync<T, TTopic>(
        NodeCore core,
        (string Name, IPayloadCodec<T> Codec, TopicAccess Access, TopicOptions Options) asked,
        CancellationToken cancellationToken)
        where TTopic : class, ITopicEndpoint
    {
        var (name, codec, _, options) = asked;
        var protocol = core.Protocols.FactoryOf(options);
        var contract = TopicContract.Describe(name, codec.Schema, protocol, options.Protocol?.Parameters ?? default);
        while (true)
        {
            if (await TryOpenAsync(core, asked, contract, cancellationToken).ConfigureAwait(core.ResumesInContext) is { } topic)
            {
                topic.EndWithNode();
                return (TTopic)(ITopicEndpoint)topic;
            }
        }
    }

    // Null: an opening with another contract was in its way, and is gone.
    private static async Task<TopicEndpoint<T>?> TryOpenAsync<T>(
        NodeCore core,
        (string Name, IPayloadCodec<T> Codec, TopicAccess Access, TopicOptions Options) asked,
        ContractDescription contract,
        CancellationToken cancellationToken)
    {
        var (name, codec, access, options) = asked;
        var created = new TaskCompletionSource<(TopicOpening Opening, TopicEndpoint<T> Endpoint)>(core.Completions);
        core.Run(() =>
        {
            try
            {
                var shared = core.GetOrAdd(name, contract, options.Protocol?.Settings);
                var endpoint = new TopicEndpoint<T>(shared, codec, access, options);
                var begun = new TopicOpening(shared, endpoint, contract);
                created.SetResult((begun, endpoint));
                begun.Begin();
            }
            catch (Exception exception)
            {
                created.TrySetException(exception);
            }
        });
        try
        {
            await core.UntilEndedAsync(created.Task, cancellationToken).ConfigureAwait(core.ResumesInContext);
            var (opening, topic) = await created.Task.ConfigureAwait(core.ResumesInContext);
            await core.UntilEndedAsync(opening.Done, cancellationToken).ConfigureAwait(core.ResumesInContext);
            return await opening.Done.ConfigureAwait(core.ResumesInContext) ? topic : null;
        }
        catch (OperationCanceledException)
        {
            // The core thread may come to it yet, or may have granted it meanwhile; no caller will ever hold the endpoint.
            core.Run(() =>
            {
                if (created.Task.IsCompletedSuccessfully)
                {
                    created.Task.Result.Opening.Topic.Abandon(created.Task.Result.Opening);
                }
            });
            throw;
        }
    }
}
