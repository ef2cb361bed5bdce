namespace QuickSilver;

/// <summary>An option has a value that it may not have. The message names the option, the value and what is allowed.</summary>
public sealed class QuickSilverOptionsException : ArgumentException
{
    internal QuickSilverOptionsException(IReadOnlyList<string> failures)
        : base(string.Join(" ", failures))
    {
        Failures = failures;
    }

    internal QuickSilverOptionsException(string failure, Exception cause)
        : this([failure], cause)
    {
    }

    internal QuickSilverOptionsException(IReadOnlyList<string> failures, Exception cause)
        : base(string.Join(" ", failures), cause)
    {
        Failures = failures;
    }

    /// <summary>One sentence for each option that is wrong.</summary>
    public IReadOnlyList<string> Failures { get; }
}
