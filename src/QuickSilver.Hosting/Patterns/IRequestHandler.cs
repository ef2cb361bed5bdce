namespace QuickSilver.Hosting;

/// <summary>
/// Answers the requests of a name, outside the node's core thread, so that it may wait. Register it with
/// <see cref="QuickSilverBuilder.AddResponder"/>.
/// </summary>
/// <typeparam name="TRequest">The type of the requests.</typeparam>
/// <typeparam name="TReply">The type of the answers.</typeparam>
public interface IRequestHandler<TRequest, TReply>
{
    /// <summary>
    /// Answers a request. By default, up to 16 requests are answered at a time. An exception is logged and counted, and the requester gets
    /// its message.
    /// </summary>
    /// <param name="request">The request, and its requester.</param>
    /// <param name="cancellationToken">
    /// Cancelled when the host stops and has given the handler a second, or when the node has ended.
    /// </param>
    ValueTask<TReply> HandleAsync(Message<TRequest> request, CancellationToken cancellationToken);
}
