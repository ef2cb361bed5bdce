namespace QuickSilver;

/// <summary>What one responder made of a request to all.</summary>
/// <typeparam name="TReply">The type of the answers.</typeparam>
/// <param name="Responder">The node of the responder.</param>
/// <param name="Value">Its answer. Undefined if there is an error.</param>
/// <param name="Error">
/// Why there is no answer: <see cref="ResponderFailedException"/>, <see cref="ResponderLeftException"/> or <see
/// cref="RequestTimeoutException"/>. Null if there is one.
/// </param>
public readonly record struct Reply<TReply>(NodeId Responder, TReply? Value, RequestException? Error)
{
    // For display, so it is no part of what is compared. Null in a reply that an application made.
    internal string? ResponderName { get; init; }

    /// <summary>Whether both are of the same responder, with equal answers or the same error.</summary>
    public bool Equals(Reply<TReply> other) =>
        Responder == other.Responder && EqualityComparer<TReply?>.Default.Equals(Value, other.Value) && Equals(Error, other.Error);

    /// <inheritdoc/>
    public override int GetHashCode() => HashCode.Combine(Responder, Value, Error);

    /// <summary>The name and the id of the responder, and its answer or the message of the error.</summary>
    public override string ToString() =>
        Error is null ? $"{Responder.InWords(ResponderName)}: {Value}" : $"{Responder.InWords(ResponderName)}: {Error.Message}";
}
