namespace QuickSilver.Groups;

/// <summary>What one member made of a question.</summary>
/// <typeparam name="TReply">The type of the answers.</typeparam>
/// <param name="Member">The member.</param>
/// <param name="Outcome">Whether it has answered, or why there is no answer.</param>
/// <param name="Value">Its answer. Undefined if there is none.</param>
public readonly record struct GroupReply<TReply>(NodeId Member, GroupReplyOutcome Outcome, TReply? Value)
{
    /// <summary>
    /// Of <see cref="GroupReplyOutcome.Unreadable"/>: why the answer cannot be read. Otherwise null.
    /// </summary>
    public Exception? Error { get; init; }

    /// <summary>Whether the member has answered.</summary>
    public bool IsAnswer => Outcome == GroupReplyOutcome.Answered;
}

/// <summary>How a question ended at one member.</summary>
public enum GroupReplyOutcome
{
    /// <summary>The member has answered.</summary>
    Answered = 0,

    /// <summary>The member does not answer: it declined, or it joined meanwhile and got the question as a part of its state.</summary>
    Declined = 1,

    /// <summary>
    /// The member has failed or left the group before its answer came, or this node was removed from the group and has come back. The
    /// member may have handled the question.
    /// </summary>
    Left = 2,

    /// <summary>The member is in the group and has not answered in time. It may still handle the question.</summary>
    TimedOut = 3,

    /// <summary>The member has answered with another type, or its answer cannot be decoded.</summary>
    Unreadable = 4,
}
