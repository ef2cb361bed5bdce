using System.Collections.Immutable;
using System.Diagnostics.CodeAnalysis;
using QuickSilver.Membership.Views;
using QuickSilver.Serialization;

namespace QuickSilver.Groups.Questions;

// One question, and what has come of it. The core thread adds, and the application that enumerates takes.
//
//   Begun      it has its number, and is sent
//   Delivered  its members are known: the view in which the group delivers it
//   Over       enough have answered, or each member has answered, declined or left, or the time is over
//
// Invariant: each member that is to answer gives one reply. Nothing is added when the question is over.
internal sealed class AskedQuestion<TReply>(
    string group, GroupRepliers repliers, IPayloadCodec<TReply> codec, Func<NodeKey, string> nameOf, TaskCreationOptions completions)
    : IAskedQuestion
{
    // Answers that come before this node has delivered the question itself: at most one of each member of a large view.
    private const int MostEarly = 4096;

    private readonly ulong _type = ReplyBody.TypeOf(codec.Schema);
    private readonly TaskCompletionSource<long> _begun = new(completions);
    // Core thread. Null before the question is delivered.
    private List<NodeKey>? _waiting;
    private List<(NodeKey Member, ReplyHead Head, byte[] Value)>? _early;
    private int _enough;
    private int _answers;
    // Both threads.
    private readonly Lock _lock = new();
    private readonly Queue<GroupReply<TReply>> _replies = new();
    private TaskCompletionSource _wake = new(completions);
    private bool _isOver;
    private Exception? _failure;

    /// <summary>Completes with the number of the question when it can be sent.</summary>
    public Task<long> Begun => _begun.Task;

    public long Id { get; private set; }

    public void Begin(long id)
    {
        Id = id;
        _begun.TrySetResult(id);
    }

    public void OnDelivered(ImmutableArray<NodeKey> members)
    {
        if (_waiting is not null || IsOver)
        {
            return;
        }

        if (repliers.OnlyRank is not { } rank)
        {
            _waiting = [.. members];
        }
        else if (rank < members.Length)
        {
            _waiting = [members[rank]];
        }
        else
        {
            Fail(new ArgumentOutOfRangeException(
                nameof(QuestionOptions.Repliers),
                $"The question asks the member of rank {rank}, and the group \"{group}\" delivered it in a view of {members.Length} "
                + $"members. Ask a rank from 0 to {members.Length - 1}."));
            return;
        }

        _enough = repliers.EnoughOf(members.Length);
        foreach (var (member, head, value) in _early ?? [])
        {
            OnReply(member, head, value);
        }

        _early = null;
        if (_waiting is [] && !IsOver)
        {
            End(failure: null);
        }
    }

    public void OnReply(NodeKey member, in ReplyHead head, ReadOnlySpan<byte> value)
    {
        if (_waiting is null)
        {
            _early ??= [];
            if (_early.Count < MostEarly && !_early.Exists(one => one.Member == member))
            {
                _early.Add((member, head, value.ToArray()));
            }
        }
        else if (!IsOver && _waiting.Remove(member))
        {
            var reply = Read(member, head, value);
            _answers += reply.IsAnswer ? 1 : 0;
            Add(reply);
        }
    }

    public void OnLeft(ImmutableArray<NodeKey> left, bool isSelfAmong)
    {
        if (_waiting is null || IsOver)
        {
            return;
        }

        NodeKey[] gone = [.. _waiting.Where(member => isSelfAmong || left.Contains(member))];
        foreach (var member in gone)
        {
            _waiting.Remove(member);
            Add(new GroupReply<TReply>(IdOf(member), GroupReplyOutcome.Left, default));
        }
    }

    /// <summary>Core thread: the time is over.</summary>
    public void OnTimeout(TimeSpan timeout)
    {
        if (IsOver)
        {
            return;
        }

        if (_waiting is null)
        {
            Fail(new TimeoutException(
                $"The group \"{group}\" has not delivered the question at this node within {timeout:c}. Its members may still get it. "
                + "Look at the status of the node, which says what the messages of the group wait for, or give the question more time."));
            return;
        }

        while (_waiting is [var member, ..] && !IsOver)
        {
            _waiting.RemoveAt(0);
            Add(new GroupReply<TReply>(IdOf(member), GroupReplyOutcome.TimedOut, default));
        }
    }

    public void Fail(Exception reason)
    {
        if (_begun.TrySetException(reason))
        {
            return;
        }

        End(reason);
    }

    /// <summary>
    /// Takes the next reply. False: there is none now. Then <paramref name="wait"/> completes when there is one, and is null if none comes
    /// any more.
    /// </summary>
    /// <exception cref="Exception">Why no answer comes any more.</exception>
    public bool TryTake([MaybeNullWhen(false)] out GroupReply<TReply> reply, out Task? wait)
    {
        lock (_lock)
        {
            wait = null;
            if (_replies.TryDequeue(out reply))
            {
                return true;
            }

            if (_failure is { } failure)
            {
                throw failure;
            }

            if (!_isOver)
            {
                if (_wake.Task.IsCompleted)
                {
                    _wake = new TaskCompletionSource(completions);
                }

                wait = _wake.Task;
            }

            return false;
        }
    }

    // Written on the core thread alone, which therefore reads it without the lock.
    private bool IsOver => _isOver;

    private void End(Exception? failure)
    {
        TaskCompletionSource wake;
        lock (_lock)
        {
            if (_isOver)
            {
                return;
            }

            (_isOver, _failure) = (true, failure);
            wake = _wake;
        }

        wake.TrySetResult();
    }

    private void Add(in GroupReply<TReply> reply)
    {
        TaskCompletionSource wake;
        lock (_lock)
        {
            _replies.Enqueue(reply);
            _isOver = _answers >= _enough || _waiting is [];
            wake = _wake;
        }

        wake.TrySetResult();
    }

    private GroupReply<TReply> Read(NodeKey member, in ReplyHead head, ReadOnlySpan<byte> value)
    {
        var id = IdOf(member);
        if (head.IsDeclined)
        {
            return new GroupReply<TReply>(id, GroupReplyOutcome.Declined, default);
        }

        if (head.Type != _type)
        {
            return Unreadable(id, new PayloadFormatException(
                $"Node {nameOf(member)} answered a question in the group \"{group}\" with another type than {codec.Schema.TypeName}. "
                + "Answer with the type for which the question waits."));
        }

        try
        {
            return new GroupReply<TReply>(id, GroupReplyOutcome.Answered, codec.Read(value));
        }
        catch (Exception exception)
        {
            // A codec of the application may throw anything.
            return Unreadable(id, exception);
        }
    }

    private static GroupReply<TReply> Unreadable(NodeId member, Exception error) =>
        new(member, GroupReplyOutcome.Unreadable, default) { Error = error };

    private static NodeId IdOf(NodeKey key) => new(key.Id, key.Incarnation);
}
