using QuickSilver.Core.Security.Identities;

namespace QuickSilver;

/// <summary>The exception that is thrown for an invalid option. The message names the option, its value and the valid values.</summary>
public sealed class QuickSilverOptionsException : QuickSilverException
{
    internal QuickSilverOptionsException(IReadOnlyList<string> failures)
        : base(Secret.Hide(string.Join(" ", failures)))
    {
        Failures = [.. failures.Select(Secret.Hide)];
    }

    internal QuickSilverOptionsException(string failure, Exception cause)
        : this([failure], cause)
    {
    }

    internal QuickSilverOptionsException(IReadOnlyList<string> failures, Exception cause)
        : base(Secret.Hide(string.Join(" ", failures)), cause)
    {
        Failures = [.. failures.Select(Secret.Hide)];
    }

    /// <summary>One sentence for each invalid option.</summary>
    public IReadOnlyList<string> Failures { get; }

    // The interface that a node without a key must not use. Null: something else is wrong. A tool says what to do in its own words.
    internal string? Unprotected { get; init; }
}
