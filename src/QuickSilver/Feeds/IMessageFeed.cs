namespace QuickSilver.Feeds;

/// <summary>
/// A source of messages from which the node pulls, in place of being pushed to (the pull model of QSM, section 3 of the paper). Attach it
/// with <see cref="ITopicPublisher{T}.AttachFeed(IMessageFeed{T})"/>.
/// </summary>
/// <typeparam name="T">The topic's payload type.</typeparam>
/// <remarks>
/// <para>
/// The node calls <see cref="Pull"/> when the network can take messages, says how many, and later reports with <see cref="OnStable"/> up to
/// which of them every subscriber has them, so that the feed can release what it keeps. All methods are called on the node's core thread,
/// one at a time. They must not block. What they throw is logged and counted (<c>quicksilver.feed.faults</c>), and the feed is then not
/// pulled again until it signals (<see cref="IAttachedFeed.Signal"/>).
/// </para>
/// <para>
/// The messages of a feed are numbered 1, 2, 3 and so on, in the order in which it wrote them, for each time it is attached.
/// </para>
/// </remarks>
public interface IMessageFeed<T>
{
    /// <summary>
    /// The feed's turn: it writes as many messages as it has and <paramref name="writer"/> can take. Called from the time the feed is
    /// attached until it is detached.
    /// </summary>
    /// <param name="writer">Takes the messages. It may be used only until this method returns.</param>
    /// <returns>
    /// True if the feed has more. It is then called again when there is room and the other feeds of the topic have had their turns. False
    /// if it has no more: call <see cref="IAttachedFeed.Signal"/> when it has. A feed that wrote nothing is not called again until it
    /// signals, whatever it returns.
    /// </returns>
    bool Pull(IFeedWriter<T> writer);

    /// <summary>
    /// Reports that all messages up to a number are stable: every member of the views they were sent in, in all regions of the topic, has
    /// received them or was removed from the view. Messages of a topic with <see cref="Guarantee.BestEffort"/> are not acknowledged: they
    /// count as stable when they have left this node.
    /// </summary>
    /// <param name="through">The number of the last message that is stable. It is greater at each call.</param>
    void OnStable(long through)
    {
    }

    /// <summary>The last call, once for each time the feed is attached: nothing more will be known of its messages.</summary>
    /// <param name="reason">
    /// Null if the feed was detached, or its endpoint drained, cancelled or disposed, and all that it wrote is stable. Otherwise the reason
    /// why no message after the last <see cref="OnStable"/> will be known to be stable, although some may have arrived: <see
    /// cref="ObjectDisposedException"/> (the endpoint or its node was disposed before), <see cref="OperationCanceledException"/> (the
    /// endpoint was cancelled), <see cref="NodeExpelledException"/>, <see cref="ContractMismatchException"/>, <see
    /// cref="SlowReaderException"/>, or <see cref="MessageTooLargeException"/> (the topic got regions for which a message that waited for
    /// room is too large). If the endpoint failed, it is given even if all messages are stable.
    /// </param>
    /// <remarks>
    /// If other code blocks the core thread for so long that its node is disposed without it, this method is called on another thread.
    /// </remarks>
    void OnEnded(Exception? reason)
    {
    }
}

/// <summary>
/// Takes the messages of a feed in its turn, within the turn's budget. It may be used only on the thread and during the call of <see
/// cref="IMessageFeed{T}.Pull"/> that got it.
/// </summary>
/// <typeparam name="T">The topic's payload type.</typeparam>
public interface IFeedWriter<T>
{
    /// <summary>Whether the turn has room for a message. Check it before each <see cref="Write"/>.</summary>
    bool CanWrite { get; }

    /// <summary>
    /// The number of messages that may still be written in this turn, if they are small: <see cref="BytesLeft"/> may be used up before, and
    /// so may the room in the network. 0 if <see cref="CanWrite"/> is false.
    /// </summary>
    int MessagesLeft { get; }

    /// <summary>
    /// The number of bytes that may still be written in this turn: the encoded messages with 20 bytes for each. The last message may exceed
    /// it. 0 if <see cref="CanWrite"/> is false.
    /// </summary>
    int BytesLeft { get; }

    /// <summary>
    /// Writes the feed's next message. It is encoded before the method returns, and the value may be changed afterwards. A message for
    /// which the network turns out to have no room ends the turn: it is kept, and sent first when there is room.
    /// </summary>
    /// <exception cref="InvalidOperationException">
    /// <see cref="CanWrite"/> is false: the budget is used up, or the feed's turn is over. Or the value cannot be encoded because it nests
    /// too deep or a collection in it contains null. The message was not written and has no number.
    /// </exception>
    /// <exception cref="ArgumentNullException">The value is null.</exception>
    /// <exception cref="MessageTooLargeException">
    /// The encoded message is larger than 16 MiB, or larger than the node's packet memory can hold for all regions of the topic together.
    /// </exception>
    void Write(in T value);
}
