using System.Diagnostics.CodeAnalysis;

namespace QuickSilver.Groups;

/// <summary>
/// What a member of a group gets, one after the other: a view, the messages of that view, the next view, and so on. The first event is
/// always a view.
/// </summary>
/// <typeparam name="TMessage">The type of the messages.</typeparam>
public readonly struct GroupEvent<TMessage>
{
    private readonly TMessage? _message;

    internal GroupEvent(GroupView view)
    {
        View = view;
        IsView = true;
    }

    internal GroupEvent(GroupView view, NodeId sender, TMessage message, GroupQuestion? question = null)
    {
        View = view;
        Sender = sender;
        Question = question;
        _message = message;
    }

    /// <summary>The view that begins with this event or, of a message, the view in which all its members get the message.</summary>
    public GroupView View { get; }

    /// <summary>Whether a view begins with this event. Otherwise it is a message.</summary>
    public bool IsView { get; }

    /// <summary>Of a message: the node that sent it.</summary>
    public NodeId Sender { get; }

    /// <summary>
    /// Of a message that is a question which this member is to answer (<see
    /// cref="IGroupSender{TMessage}.AskAsync{TReply}(TMessage, QuestionOptions?, CancellationToken)"/>): what answers it. Otherwise null.
    /// </summary>
    public GroupQuestion? Question { get; }

    /// <summary>Gets the message. False: the event is a view.</summary>
    /// <param name="message">The message, in memory of its own.</param>
    public bool TryGetMessage([MaybeNullWhen(false)] out TMessage message)
    {
        message = _message;
        return !IsView;
    }
}

/// <summary>Handles an event of a group on the core thread of the node. It must not block.</summary>
/// <typeparam name="TMessage">The type of the messages.</typeparam>
/// <param name="occurrence">The event.</param>
public delegate void GroupHandler<TMessage>(in GroupEvent<TMessage> occurrence);
