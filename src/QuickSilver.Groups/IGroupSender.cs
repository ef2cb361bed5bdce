using QuickSilver.Serialization;

namespace QuickSilver.Groups;

/// <summary>
/// Sends messages to a process group, and asks its members. A member does with <see cref="IGroup{TMessage}"/>, and a node that is no member
/// with what <see cref="GroupNode.OpenGroupSenderAsync{TMessage}"/> opens. Thread-safe. Dispose it when it is not used any more.
/// </summary>
/// <typeparam name="TMessage">The type of the messages.</typeparam>
public interface IGroupSender<TMessage> : IAsyncDisposable
{
    /// <summary>The name of the group.</summary>
    string Name { get; }

    /// <summary>Sends a message in the order of <see cref="GroupOptions.Order"/>.</summary>
    /// <param name="message">The message.</param>
    /// <param name="cancellationToken">Cancels the call while it waits for room.</param>
    /// <remarks>
    /// Completes when the node has accepted the message; it waits while there is no room. All members of the view in which it is sent get
    /// it in its order. If this node fails before others hold the message, none of them gets it.
    /// </remarks>
    /// <exception cref="ArgumentNullException">The message is null.</exception>
    /// <exception cref="MessageTooLargeException">The message is larger than the limit.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    /// <exception cref="ObjectDisposedException">The group or its node was disposed.</exception>
    /// <exception cref="OperationCanceledException">The token cancelled the call.</exception>
    ValueTask SendAsync(TMessage message, CancellationToken cancellationToken = default);

    /// <summary>Sends a message in an order of its own.</summary>
    /// <param name="message">The message.</param>
    /// <param name="order">The order.</param>
    /// <param name="cancellationToken">Cancels the call while it waits for room.</param>
    /// <exception cref="QuickSilverOptionsException">The order is none.</exception>
    /// <inheritdoc cref="SendAsync(TMessage, CancellationToken)"/>
    ValueTask SendAsync(TMessage message, GroupOrder order, CancellationToken cancellationToken = default);

    /// <summary>
    /// Asks the members a question, which they get as a message in its order. The answers come to this node alone, as they arrive.
    /// </summary>
    /// <remarks>
    /// The question is sent when the enumeration begins, and again with each enumeration. It is for the members of the view in which the
    /// group delivers it. A member answers with <see cref="GroupEvent{TMessage}.Question"/>. The enumeration ends
    /// when enough members have answered (<see cref="QuestionOptions.Repliers"/>), or when each has answered, declined or left, or when
    /// <see cref="QuestionOptions.Timeout"/> is over. Each member that did not answer is in it with the reason. A member that fails is
    /// reported when the next view comes, not after the timeout.
    /// </remarks>
    /// <typeparam name="TReply">The type of the answers. A member that answers with another type is reported as unreadable.</typeparam>
    /// <param name="question">The question.</param>
    /// <param name="options">How it is asked. Null: the defaults.</param>
    /// <param name="cancellationToken">Ends the enumeration. Members are not notified.</param>
    /// <exception cref="ArgumentNullException">The question is null.</exception>
    /// <exception cref="QuickSilverOptionsException">An option is invalid.</exception>
    /// <exception cref="NotSupportedException">The type of the answers has no codec.</exception>
    /// <exception cref="TooManyRequestsException">1,024 questions of this node in the group wait for answers.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The view has no member of the rank that was asked.</exception>
    /// <exception cref="TimeoutException">The group has not delivered the question at this node in time.</exception>
    /// <exception cref="MessageTooLargeException">The question is larger than the limit.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    /// <exception cref="ObjectDisposedException">The group or its node was disposed.</exception>
    /// <exception cref="OperationCanceledException">The token cancelled the enumeration.</exception>
    IAsyncEnumerable<GroupReply<TReply>> AskAsync<TReply>(
        TMessage question, QuestionOptions? options = null, CancellationToken cancellationToken = default);

    /// <summary>Asks the members a question whose answers have a codec of their own.</summary>
    /// <typeparam name="TReply">The type of the answers.</typeparam>
    /// <param name="question">The question.</param>
    /// <param name="codec">The codec of the answers.</param>
    /// <param name="options">How it is asked. Null: the defaults.</param>
    /// <param name="cancellationToken">Ends the enumeration.</param>
    /// <exception cref="ArgumentNullException">The question or the codec is null.</exception>
    /// <inheritdoc cref="AskAsync{TReply}(TMessage, QuestionOptions?, CancellationToken)"/>
    IAsyncEnumerable<GroupReply<TReply>> AskAsync<TReply>(
        TMessage question,
        IPayloadCodec<TReply> codec,
        QuestionOptions? options = null,
        CancellationToken cancellationToken = default);

    /// <summary>
    /// Ends sending, and completes when all members hold the messages that were sent before the call. From the call on, sends and questions
    /// of this member fail.
    /// </summary>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    /// <exception cref="ObjectDisposedException">The group or its node was disposed.</exception>
    /// <exception cref="OperationCanceledException">The token cancelled the wait.</exception>
    Task DrainAsync(CancellationToken cancellationToken = default);
}
