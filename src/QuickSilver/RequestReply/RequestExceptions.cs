using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Membership.Views;
using QuickSilver.Serialization;

namespace QuickSilver;

/// <summary>The base of the exceptions with which a request ends without an answer. The request may be sent again.</summary>
public abstract class RequestException : QuickSilverException
{
    private protected RequestException(string name, string message, Exception? innerException = null)
        : base(message, innerException) =>
        Name = name;

    /// <summary>The name of the requests.</summary>
    public string Name { get; }

    private protected static string Seconds(TimeSpan time) =>
        string.Create(CultureInfo.InvariantCulture, $"{time.TotalSeconds:#,0.#######} s");
}

/// <summary>
/// No node responds to requests of this name, or this node did not learn in time who does. The request was not sent.
/// </summary>
public sealed class NoResponderException : RequestException
{
    internal NoResponderException(string name, TimeSpan waited)
        : this(
            name,
            waited,
            $"No node responds to requests for \"{name}\"{(waited > TimeSpan.Zero ? $", for {Seconds(waited)}" : "")}. The request was "
            + $"not sent. Open a responder with the same name and types, or raise {nameof(RequesterOptions.WaitForResponder)}.")
    {
    }

    private NoResponderException(string name, TimeSpan waited, string message)
        : base(name, message) =>
        Waited = waited;

    /// <summary>How long the request has waited for a responder.</summary>
    public TimeSpan Waited { get; }

    // The wait for a responder may have taken as long as the deadline: then more time alone does not help.
    internal static NoResponderException AtDeadline(string name, TimeSpan timeout, bool hasWaited) => new(
        name,
        timeout,
        $"No node responds to requests for \"{name}\", and the {Seconds(timeout)} of this one are over. It was not sent. Open a responder "
        + "with the same name and types, or give the request more time"
        + (hasWaited ? $" and raise {nameof(RequesterOptions.WaitForResponder)}." : "."));

    // The membership service has not given this node the view of the topic.
    internal static NoResponderException NotKnown(string name, TimeSpan waited) => new(
        name,
        waited,
        $"The request for \"{name}\" was not sent: this node did not learn within {Seconds(waited)} which nodes respond. The "
        + "membership service reports that after a requester was opened. Look at the status of the node, which says whether the service is "
        + "reachable, and whether changes wait there.");

    // In a host, whose node has not joined yet.
    internal static NoResponderException WithoutNode(string name, TimeSpan waited) => new(
        name,
        waited,
        $"The request for \"{name}\" was not sent: the node of the host had not joined within {Seconds(waited)}. Look at the check "
        + "quicksilver-ready, which says why, or give the request more time.");
}

/// <summary>No answer came before the deadline. The request may have been handled, or may be handled later.</summary>
public sealed class RequestTimeoutException : RequestException
{
    private const int MostNamed = 8;

    /// <param name="name">The name of the requests.</param>
    /// <param name="timeout">The time that the request had.</param>
    /// <param name="silent">Those that got the request, did not answer, and still respond.</param>
    internal RequestTimeoutException(string name, TimeSpan timeout, params IReadOnlyList<NamedNode> silent)
        : base(
            name,
            $"No answer to a request for \"{name}\" came within {Seconds(timeout)} from {InWords(silent)}. Responders may be too "
            + "slow, or overloaded, and may still handle it. Give it more time, or add responders.")
    {
        Timeout = timeout;
        Silent = [.. silent.Select(static one => one.Id())];
    }

    private static string InWords(IReadOnlyList<NamedNode> silent)
    {
        string named = string.Join(", ", silent.Take(MostNamed));
        string more = silent.Count > MostNamed ? $" and {silent.Count - MostNamed} more" : "";
        return silent.Count == 1 ? $"the responder {named}" : $"{silent.Count} responders: {named}{more}";
    }

    /// <summary>The time that the request had.</summary>
    public TimeSpan Timeout { get; }

    /// <summary>The responders that got the request, did not answer, and still respond.</summary>
    public IReadOnlyList<NodeId> Silent { get; }
}

/// <summary>All responders to which the request was sent have left, stopped or failed. The request may have been handled.</summary>
public sealed class ResponderLeftException : RequestException
{
    internal ResponderLeftException(string name, NamedNode? responder)
        : base(
            name,
            responder is { } one
                ? $"The responder {one} for \"{name}\" left before it answered. It may have handled the request."
                : $"All responders for \"{name}\" that got the request left before they answered. They may have handled it. Send it again "
                + "if that does no harm.") =>
        Responder = responder?.Id();

    /// <summary>The responder, if it is about one of several.</summary>
    public NodeId? Responder { get; }
}

/// <summary>
/// A responder could not decode the request, its handler threw an exception, or its answer cannot be decoded. If the handler threw a
/// <see cref="FaultException{T}"/>, <see cref="TryGetFault{T}(out T)"/> reads its detail.
/// </summary>
public sealed class ResponderFailedException : RequestException
{
    private readonly FaultDetail? _fault;

    internal ResponderFailedException(string name, NamedNode responder, string error)
        : base(
            name,
            $"The responder {responder} for \"{name}\" failed: {ErrorSentence(error)} "
            + "Look at the log of that node, which has the exception (event 1627). The request may be sent again if that does no harm.")
    {
        Responder = responder.Id();
        Error = error;
    }

    internal ResponderFailedException(string name, NamedNode responder, string error, FaultDetail fault)
        : base(
            name,
            $"The responder {responder} for \"{name}\" answered with a fault of type {fault.Contract.TypeName}: {ErrorSentence(error)} "
            + $"Read its detail with {nameof(TryGetFault)}.")
    {
        Responder = responder.Id();
        Error = error;
        _fault = fault;
    }

    internal ResponderFailedException(string name, NamedNode responder, Exception decoding)
        : base(
            name,
            $"The answer of the responder {responder} for \"{name}\" cannot be decoded: "
            + $"{ErrorSentence(PayloadFormatException.InWords(decoding))} Check that both sides have the same type and codec of answers.",
            decoding)
    {
        Responder = responder.Id();
        Error = decoding.Message;
    }

    private ResponderFailedException(string name, NodeId responder, string error, string message)
        : base(name, message)
    {
        Responder = responder;
        Error = error;
    }

    // The text of the responder says what it could not decode.
    internal static ResponderFailedException Undecodable(string name, NamedNode responder, string error) => new(
        name,
        responder.Id(),
        error,
        $"The responder {responder} for \"{name}\" failed: {ErrorSentence(error)} Check that both sides have the same type and codec of "
        + "requests. The log of that node has the exception (event 1614).");

    private static string ErrorSentence(string error) => error.TrimEnd() is var text && text.EndsWith('.') ? text : $"{text}.";

    /// <summary>The responder.</summary>
    public NodeId Responder { get; }

    /// <summary>
    /// The message of its exception, or of the one with which decoding its answer failed. If it could not decode the request: a sentence
    /// that says so, with the type and the message of its exception.
    /// </summary>
    public string Error { get; }

    /// <summary>The name of the type of the fault's detail. Null: the handler threw no <see cref="FaultException{T}"/>.</summary>
    public string? FaultType => _fault?.Contract.TypeName;

    /// <summary>
    /// Reads the detail of a <see cref="FaultException{T}"/>. False: the handler threw none, or one of another type. A type is known by its
    /// name in its codec's schema: its full name, or the name that its <c>[DataContract]</c> has.
    /// </summary>
    /// <typeparam name="T">The type of the detail.</typeparam>
    /// <param name="fault">The detail.</param>
    /// <exception cref="PayloadFormatException">The type has this name, but other fields than here, or its bytes are malformed.</exception>
    /// <exception cref="NotSupportedException">The type has no codec.</exception>
    public bool TryGetFault<T>([MaybeNullWhen(false)] out T fault) => TryGetFault(QuickSilverNode.CodecOf<T>(), out fault);

    /// <summary>Reads the detail of a <see cref="FaultException{T}"/> with the specified codec.</summary>
    /// <param name="codec">The codec of the detail.</param>
    /// <param name="fault">The detail.</param>
    /// <exception cref="ArgumentNullException">The codec is null.</exception>
    /// <inheritdoc cref="TryGetFault{T}(out T)"/>
    public bool TryGetFault<T>(IPayloadCodec<T> codec, [MaybeNullWhen(false)] out T fault)
    {
        ArgumentNullException.ThrowIfNull(codec);
        fault = default;
        return _fault is not null && _fault.TryRead(codec, out fault);
    }
}

/// <summary>More requests than <see cref="RequesterOptions.MaxOutstanding"/> wait for an answer. The request was not sent.</summary>
public sealed class TooManyRequestsException : RequestException
{
    internal TooManyRequestsException(string name, int limit)
        : this(
            name,
            limit,
            $"{Counted.Of(limit, "request")} for \"{name}\" {(limit == 1 ? "waits" : "wait")} for an answer, which is the "
            + "limit. This one was not sent. Wait for answers, or "
            + $"raise {nameof(RequesterOptions.MaxOutstanding)}.")
    {
    }

    internal TooManyRequestsException(string name, int limit, string message)
        : base(name, message) =>
        Limit = limit;

    /// <summary>The limit.</summary>
    public int Limit { get; }
}
