namespace QuickSilver.Membership.Service.Watching;

// The last report of a member for observers. A member that was never watched has none.
internal sealed class MemberSnapshot
{
    /// <summary>The last question in whose answer the member is.</summary>
    public ulong Question { get; set; }

    /// <summary>Whether it was asked this question, and has not answered yet.</summary>
    public bool IsAwaited { get; set; }

    /// <summary>Its answer, as it came; null until it comes, and when it was passed on.</summary>
    public byte[]? Reported { get; set; }

    /// <summary>When it was asked the first of the questions that it has not answered; null: it has answered the last one.</summary>
    public TimeSpan? SilentSince { get; set; }
}
