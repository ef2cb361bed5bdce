using System.Collections.Immutable;

namespace QuickSilver.Diagnostics;

// Why requests end without an answer, as the meter names it.
internal static class RequestFailure
{
    /// <summary>In the order of the counters.</summary>
    public static ImmutableArray<string> Kinds { get; } =
        ["no_responder", "timeout", "responder_failed", "responder_left", "too_many", "cancelled", "other"];

    /// <summary>The outcome of a request that did not fail.</summary>
    public const string Answered = "answered";

    /// <summary>Such a request was not made.</summary>
    public const int TooMany = 4;

    public const int Cancelled = 5;

    public static int Of(Exception exception) => exception switch
    {
        NoResponderException => 0,
        RequestTimeoutException => 1,
        ResponderFailedException => 2,
        ResponderLeftException => 3,
        TooManyRequestsException => TooMany,
        OperationCanceledException => Cancelled,
        _ => 6,
    };
}
