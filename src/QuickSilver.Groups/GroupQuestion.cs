using QuickSilver.Groups.Endpoints;
using QuickSilver.Serialization;

namespace QuickSilver.Groups;

/// <summary>
/// A question that this member is to answer, once. From any thread, also long after the event. The answer goes to the asking member alone.
/// </summary>
public sealed class GroupQuestion
{
    private readonly ReplyDesk _desk;
    private readonly long _id;
    private int _isAnswered;

    internal GroupQuestion(ReplyDesk desk, NodeId asker, long id)
    {
        _desk = desk;
        Asker = asker;
        _id = id;
    }

    /// <summary>The member that asks.</summary>
    public NodeId Asker { get; }

    /// <summary>
    /// Answers. Completes when the node has accepted the answer; it waits while there is no room. Whether the answer arrives is not known:
    /// the asking member may be gone, or wait no longer.
    /// </summary>
    /// <typeparam name="TReply">The type of the answer, the one for which the asking member waits.</typeparam>
    /// <param name="reply">The answer.</param>
    /// <param name="codec">The codec. Null: the codec of the type, for bytes, string, or a <c>[DataContract]</c> type.</param>
    /// <exception cref="ArgumentNullException">The answer is null.</exception>
    /// <exception cref="InvalidOperationException">The question was answered or declined before.</exception>
    /// <exception cref="NotSupportedException">The type has no codec, and none is given.</exception>
    /// <exception cref="MessageTooLargeException">The answer is larger than the limit of a message.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    /// <exception cref="ObjectDisposedException">The node was disposed.</exception>
    public ValueTask ReplyAsync<TReply>(TReply reply, IPayloadCodec<TReply>? codec = null)
    {
        if (reply is null)
        {
            throw new ArgumentNullException(nameof(reply));
        }

        // Before it counts as answered: the application may answer again what cannot be encoded.
        byte[] letter = _desk.Encode(_id, reply, codec ?? QuickSilverNode.CodecOf<TReply>());
        Take();
        return _desk.SendAsync(Asker, letter);
    }

    /// <summary>Does not answer, so that the asking member does not wait for this one.</summary>
    /// <exception cref="InvalidOperationException">The question was answered or declined before.</exception>
    /// <inheritdoc cref="ReplyAsync{TReply}(TReply, IPayloadCodec{TReply}?)" path="/exception[@cref='NodeExpelledException']"/>
    /// <inheritdoc cref="ReplyAsync{TReply}(TReply, IPayloadCodec{TReply}?)" path="/exception[@cref='ObjectDisposedException']"/>
    public ValueTask DeclineAsync()
    {
        Take();
        return _desk.SendAsync(Asker, _desk.Decline(_id));
    }

    /// <summary>Declines if the application has not answered.</summary>
    internal void Pass()
    {
        if (Interlocked.Exchange(ref _isAnswered, 1) == 0)
        {
            _ = _desk.SendAsync(Asker, _desk.Decline(_id));
        }
    }

    private void Take()
    {
        if (Interlocked.Exchange(ref _isAnswered, 1) != 0)
        {
            throw new InvalidOperationException(
                $"The question of node {Asker} in the group \"{_desk.Group}\" was answered before. Answer a question once.");
        }
    }
}
