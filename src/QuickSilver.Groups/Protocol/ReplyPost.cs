using QuickSilver.Groups.Questions;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Protocols;

namespace QuickSilver.Groups.Protocol;

// The answers of this node to questions in its groups, and those that come for its own questions: letters from node to node. Opened with
// the first question that is asked or answered here. Core thread only.
//
// Invariant: answers are sent in the order in which they were given.
internal sealed class ReplyPost(IProtocolNode node, string protocol, Func<ulong, AskedQuestions?> asked) : IReplyPost, ILetterReader
{
    private readonly Queue<(NodeKey To, byte[] Letter, TaskCompletionSource Sent)> _waiting = new();
    private ILetters? _letters;
    private Exception? _end;
    private long _lastId;
    private long _answers;
    private long _undelivered;

    /// <summary>From any thread.</summary>
    public long Answers => Volatile.Read(ref _answers);

    /// <summary>From any thread: answers that were dropped on their way, or for which no question waited.</summary>
    public long Undelivered => Volatile.Read(ref _undelivered);

    public long NextId() => ++_lastId;

    public void Open() => _letters ??= _end is null ? node.OpenLetters(protocol, this) : null;

    public void Send(NodeKey to, byte[] letter, TaskCompletionSource sent)
    {
        if (to == node.Self)
        {
            OnLetter(to, letter);
            sent.TrySetResult();
            return;
        }

        Open();
        if (_end is { } end)
        {
            sent.TrySetException(end);
        }
        else if (_waiting.Count > 0 || !_letters!.TrySend(to, letter))
        {
            _waiting.Enqueue((to, letter, sent));
        }
        else
        {
            _answers++;
            sent.TrySetResult();
        }
    }

    public void OnLetter(NodeKey sender, ReadOnlySpan<byte> letter)
    {
        if (!ReplyBody.TryRead(letter, out var head) || asked(head.Topic) is not { } questions
            || !questions.TryTake(sender, head, letter[ReplyBody.HeaderBytes..]))
        {
            _undelivered++;
        }
    }

    public void OnUndelivered(NodeKey to) => _undelivered++;

    public void OnRoom()
    {
        while (_waiting.TryPeek(out var first) && _letters!.TrySend(first.To, first.Letter))
        {
            _waiting.Dequeue();
            _answers++;
            first.Sent.TrySetResult();
        }
    }

    public void OnEnded(Exception reason)
    {
        _end = reason;
        while (_waiting.TryDequeue(out var one))
        {
            one.Sent.TrySetException(reason);
        }
    }

    public void Close()
    {
        _letters?.Close();
        OnEnded(new ObjectDisposedException(null, "The node was disposed before the answer was sent."));
    }
}
