using QuickSilver.Serialization;

namespace QuickSilver;

/// <summary>
/// The base of <see cref="FaultException{T}"/>: what the handler of a responder throws if the requester must get more than a text.
/// </summary>
public abstract class FaultException : QuickSilverException
{
    private protected FaultException(string message, Exception? innerException)
        : base(message, innerException)
    {
    }

    /// <summary>The name of the detail's type.</summary>
    internal abstract string TypeName { get; }

    /// <summary>The detail as it is sent.</summary>
    internal abstract FaultDetail Encode();
}

/// <summary>
/// Thrown by the handler of a responder: the request fails with a detail that the requester reads with
/// <see cref="ResponderFailedException.TryGetFault{T}(out T)"/>. A requester that does not look for it, or whose version of the library
/// knows no faults, gets the message of the exception. A fault is an outcome that the handler intends, so the responder's node does not log
/// it; it counts as failed.
/// </summary>
/// <typeparam name="T">
/// The type of the detail. It has a codec, as payloads of topics have. Requesters know a fault by the name of this type, which is its full
/// name or the one that its <c>[DataContract]</c> has, and by its fields, which may change as those of payloads.
/// </typeparam>
public sealed class FaultException<T> : FaultException
{
    private readonly IPayloadCodec<T> _codec;

    /// <summary>Makes a fault.</summary>
    /// <param name="detail">
    /// The detail: up to 64 KiB encoded, with the description of its type. If it is larger, the requester gets the message alone, and the
    /// responder's node logs why (event 1850).
    /// </param>
    /// <param name="message">
    /// What happened, for readers of a log. Null: a sentence with the name of the type. At most 1,024 characters are sent.
    /// </param>
    /// <param name="innerException">The cause, which is not sent. Null: none.</param>
    /// <exception cref="ArgumentNullException">The detail is null.</exception>
    /// <exception cref="NotSupportedException">The type has no codec.</exception>
    public FaultException(T detail, string? message = null, Exception? innerException = null)
        : this(detail, QuickSilverNode.CodecOf<T>(), message, innerException)
    {
    }

    /// <summary>Makes a fault whose detail has the specified codec.</summary>
    /// <param name="detail">The detail.</param>
    /// <param name="codec">The codec of the detail.</param>
    /// <param name="message">What happened.</param>
    /// <param name="innerException">The cause.</param>
    /// <exception cref="ArgumentNullException">The detail or the codec is null.</exception>
    /// <inheritdoc cref="FaultException{T}(T, string?, Exception?)"/>
    public FaultException(T detail, IPayloadCodec<T> codec, string? message = null, Exception? innerException = null)
        : base(message ?? $"The request failed with a fault of type {typeof(T).Name}.", innerException)
    {
        ArgumentNullException.ThrowIfNull(detail);
        ArgumentNullException.ThrowIfNull(codec);
        Detail = detail;
        _codec = codec;
    }

    /// <summary>The detail.</summary>
    public T Detail { get; }

    internal override string TypeName => typeof(T).FullName ?? typeof(T).Name;

    internal override FaultDetail Encode() => FaultDetail.Of(_codec, Detail);
}
