namespace QuickSilver.Groups;

/// <summary>How a question is asked. They are read when the question is asked, so a later change has no effect.</summary>
public sealed class QuestionOptions
{
    private static readonly TimeSpan Shortest = TimeSpan.FromMilliseconds(1);
    private static readonly TimeSpan Longest = TimeSpan.FromDays(1);

    /// <summary>Which members are to answer, and how many answers are enough. Default: <see cref="GroupRepliers.All"/>.</summary>
    public GroupRepliers Repliers { get; set; }

    /// <summary>The order of the question among the messages of the group. Null (default): <see cref="GroupOptions.Order"/>.</summary>
    public GroupOrder? Order { get; set; }

    /// <summary>
    /// How long the question waits for answers, from the beginning of the enumeration: 00:00:00.001 to 1.00:00:00; default 5 s. Members
    /// that have not answered by then are reported as <see cref="GroupReplyOutcome.TimedOut"/>.
    /// </summary>
    public TimeSpan Timeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <exception cref="QuickSilverOptionsException">An option is out of range.</exception>
    internal QuestionOptions Checked()
    {
        var failures = new List<string>();
        if (Order is { } order)
        {
            OptionFailures.OneOf(failures, nameof(Order), order);
        }

        OptionFailures.Within(failures, nameof(Timeout), Timeout, Shortest, Longest);
        OptionFailures.ThrowIfAny(failures);

        return (QuestionOptions)MemberwiseClone();
    }
}
