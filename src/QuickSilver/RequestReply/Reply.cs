namespace QuickSilver;

/// <summary>What one responder made of a request to all.</summary>
/// <typeparam name="TReply">The type of the answers.</typeparam>
/// <param name="Responder">The node of the responder.</param>
/// <param name="Value">Its answer. Undefined if there is an error.</param>
/// <param name="Error">
/// Why there is no answer: <see cref="ResponderFailedException"/>, <see cref="ResponderLeftException"/> or <see
/// cref="RequestTimeoutException"/>. Null if there is one.
/// </param>
public readonly record struct Reply<TReply>(NodeId Responder, TReply? Value, RequestException? Error);
