using QuickSilver.Serialization;

namespace QuickSilver;

/// <summary>Sends requests to the responders of a name, and gets their answers. Thread-safe.</summary>
/// <remarks>Disposing ends the requests that wait with <see cref="ObjectDisposedException"/>.</remarks>
/// <typeparam name="TRequest">The type of the requests.</typeparam>
/// <typeparam name="TReply">The type of the answers.</typeparam>
public interface IRequester<TRequest, TReply> : IAsyncDisposable
{
    /// <summary>The name, which requesters and responders have in common.</summary>
    string Name { get; }

    /// <summary>The number of nodes that respond, as far as this node knows.</summary>
    int Responders { get; }

    /// <summary>The number of requests that wait for answers.</summary>
    int Outstanding { get; }

    /// <summary>Completes when at least <paramref name="count"/> nodes respond.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The count is negative.</exception>
    /// <exception cref="OperationCanceledException">The token cancelled the call.</exception>
    /// <exception cref="ObjectDisposedException">The requester or its node was disposed.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    Task WaitForRespondersAsync(int count, CancellationToken cancellationToken = default);

    /// <summary>
    /// Sends a request to all responders, and completes with the first answer. A responder that fails, or whose answer cannot be decoded,
    /// is no answer while others may still answer. Answers of nodes that do not respond to this name are dropped. Each responder handles
    /// the request, so what they do must be repeatable or be done by one of them.
    /// </summary>
    /// <param name="request">The request. It is encoded before the call returns, unless there is no responder yet.</param>
    /// <param name="cancellationToken">Ends the wait, and frees the request's place. Responders are not notified.</param>
    /// <returns>The answer. The task and what waits for it are all that is allocated for a request, besides the answer itself.</returns>
    /// <exception cref="NoResponderException">No node responds.</exception>
    /// <exception cref="RequestTimeoutException">No answer came in time.</exception>
    /// <exception cref="ResponderFailedException">
    /// The handlers of all responders threw, or they could not decode the request; it is about the first.
    /// </exception>
    /// <exception cref="ResponderLeftException">All responders left or failed before they answered.</exception>
    /// <exception cref="TooManyRequestsException">Too many requests wait for answers.</exception>
    /// <exception cref="ArgumentNullException">The request is null.</exception>
    /// <exception cref="MessageTooLargeException">The encoded request is too large for a message.</exception>
    /// <exception cref="PayloadFormatException">The first answer cannot be decoded, and no other came.</exception>
    /// <exception cref="OperationCanceledException">The token cancelled the call.</exception>
    /// <exception cref="ObjectDisposedException">The requester or its node was disposed.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    Task<TReply> AskAsync(TRequest request, CancellationToken cancellationToken = default);

    /// <summary>Like AskAsync, with a deadline of its own.</summary>
    /// <param name="request">The request.</param>
    /// <param name="timeout">How long it waits: 00:00:00.001 to 1.00:00:00.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is out of range.</exception>
    /// <inheritdoc cref="AskAsync(TRequest, CancellationToken)"/>
    Task<TReply> AskAsync(TRequest request, TimeSpan timeout, CancellationToken cancellationToken = default);

    /// <summary>
    /// Sends a request to all responders, and completes when each has answered, failed or left, or when the time is over.
    /// </summary>
    /// <param name="request">The request.</param>
    /// <param name="timeout">
    /// How long it waits: 00:00:00.001 to 1.00:00:00. Null: <see cref="RequesterOptions.Timeout"/>.
    /// </param>
    /// <param name="cancellationToken">Ends the wait without a result.</param>
    /// <returns>
    /// One reply for each node that responded when the request was sent, in the order of their ids, with an error where there is no answer;
    /// then the answers of nodes that joined meanwhile.
    /// </returns>
    /// <exception cref="NoResponderException">No node responds.</exception>
    /// <exception cref="TooManyRequestsException">Too many requests wait for answers.</exception>
    /// <exception cref="ArgumentNullException">The request is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The timeout is out of range.</exception>
    /// <exception cref="MessageTooLargeException">The encoded request is too large for a message.</exception>
    /// <exception cref="OperationCanceledException">The token cancelled the call.</exception>
    /// <exception cref="ObjectDisposedException">The requester or its node was disposed.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    Task<IReadOnlyList<Reply<TReply>>> AskAllAsync(
        TRequest request, TimeSpan? timeout = null, CancellationToken cancellationToken = default);
}

/// <summary>Calls of <see cref="IRequester{TRequest, TReply}"/> with fewer arguments.</summary>
public static class RequesterExtensions
{
    /// <summary>Sends a request to all responders, and waits for <see cref="RequesterOptions.Timeout"/>.</summary>
    /// <typeparam name="TRequest">The type of requests.</typeparam>
    /// <typeparam name="TReply">The type of replies.</typeparam>
    /// <param name="requester">The requester.</param>
    /// <param name="request">The request.</param>
    /// <param name="cancellationToken">Ends the wait without a result.</param>
    /// <returns>As <see cref="IRequester{TRequest, TReply}.AskAllAsync"/>.</returns>
    /// <exception cref="ArgumentNullException">The requester or the request is null.</exception>
    public static Task<IReadOnlyList<Reply<TReply>>> AskAllAsync<TRequest, TReply>(
        this IRequester<TRequest, TReply> requester, TRequest request, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(requester);
        return requester.AskAllAsync(request, timeout: null, cancellationToken);
    }
}
