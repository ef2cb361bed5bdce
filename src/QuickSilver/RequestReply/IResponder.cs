namespace QuickSilver;

/// <summary>Responds to the requests of a name. Thread-safe.</summary>
/// <remarks>
/// Disposing takes no more requests, gives those that are handled up to a second to complete, and then cancels their token. Requesters are
/// notified that the responder has left.
/// </remarks>
public interface IResponder : ISubscription
{
    /// <summary>The name, which requesters and responders have in common.</summary>
    string Name { get; }

    /// <summary>The requests that were answered.</summary>
    long Answered { get; }

    /// <summary>
    /// The requests whose handler threw, or that could not be decoded. Their requesters got the message of the exception, or the fault.
    /// </summary>
    long Failed { get; }

    /// <summary>The requests that were not handled, because their deadline had passed while they waited.</summary>
    long Expired { get; }
}
