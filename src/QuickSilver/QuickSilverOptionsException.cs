namespace QuickSilver;

/// <summary>The exception that is thrown for an invalid option. The message names the option, its value and the valid values.</summary>
public sealed class QuickSilverOptionsException : QuickSilverException
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

    /// <summary>One sentence for each invalid option.</summary>
    public IReadOnlyList<string> Failures { get; }

    // The interface that a node without a key must not use. Null: something else is wrong. A tool says what to do in its own words.
    internal string? Unprotected { get; init; }
}
