using System.Buffers.Binary;
using QuickSilver.Core.Environment;
using QuickSilver.Endpoints;
using QuickSilver.Endpoints.Changes;
using QuickSilver.Inboxes;
using QuickSilver.Membership.Contracts;
using QuickSilver.Serialization;

namespace QuickSilver.RequestReply;

// Opens the two sides of request and reply on a node.
internal sealed class RequestOpening<TRequest, TReply>(
    QuickSilverNode node, IEndpointNode core, IPayloadCodec<TRequest> requests, IPayloadCodec<TReply> replies)
{
    // An id has a sign and, beside the number, the place of its request.
    private const int UnusedBits = 22;

    public async Task<IRequester<TRequest, TReply>> OpenRequesterAsync(
        string name, Inbox inbox, RequesterOptions options, CancellationToken cancellationToken)
    {
        await inbox.OpenAsync(node.Id, cancellationToken).ConfigureAwait(core.ResumesInContext);
        var endpoint = await node.OpenEndpointAsync(name, TopicAccess.Publish, null, CodecWith(undecodable: null), cancellationToken)
            .ConfigureAwait(core.ResumesInContext);
        var followed = new TaskCompletionSource<(ISubscriberInterest Responders, long FirstNumber)>(core.Completions);
        core.Run(() =>
        {
            var interest = endpoint.Topic.Interest;
            interest.Follow();
            followed.SetResult((interest, DrawNumber(core.Environment)));
        });
        await core.UntilEndedAsync(followed.Task, CancellationToken.None).ConfigureAwait(core.ResumesInContext);
        var (responders, firstNumber) = followed.Task.Result;
        return new Requester<TRequest, TReply>(endpoint, responders, inbox, replies, options, firstNumber);
    }

    public async Task<IResponder> OpenResponderAsync(
        string name,
        Inbox inbox,
        Func<Message<TRequest>, CancellationToken, ValueTask<TReply>> handler,
        ResponderOptions options,
        CancellationToken cancellationToken)
    {
        var topic = new TopicOptions { ReaderCapacity = options.Capacity };
        var undecodable = new UndecodableRequests(inbox.Routes, core);
        var endpoint = await node.OpenEndpointAsync(name, TopicAccess.Subscribe, topic, CodecWith(undecodable), cancellationToken)
            .ConfigureAwait(core.ResumesInContext);
        return new Responder<TRequest, TReply>(endpoint, inbox.Routes, replies, handler, undecodable, options);
    }

    private RequestCodec<TRequest> CodecWith(UndecodableRequests? undecodable) => new(
        requests,
        JoinedSchema.Of(ContractDescription.RequestKind, ("request", requests.Schema), ("reply", replies.Schema)),
        core.OutsideTime,
        undecodable);

    private static long DrawNumber(INodeEnvironment environment)
    {
        Span<byte> drawn = stackalloc byte[sizeof(ulong)];
        environment.FillSecret(drawn);
        return (long)(BinaryPrimitives.ReadUInt64LittleEndian(drawn) >> UnusedBits);
    }
}
