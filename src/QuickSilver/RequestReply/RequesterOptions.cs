using QuickSilver.Serialization;

namespace QuickSilver;

/// <summary>The options of a requester. It takes a copy when it is opened, so a later change has no effect.</summary>
public class RequesterOptions
{
    /// <summary>Initializes the options with the defaults.</summary>
    public RequesterOptions()
    {
    }

    private protected RequesterOptions(RequesterOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        Timeout = options.Timeout;
        MaxOutstanding = options.MaxOutstanding;
        WaitForResponder = options.WaitForResponder;
    }

    /// <summary>
    /// How long a request waits for its answer, unless the call says otherwise: 00:00:00.001 to 1.00:00:00; default 5 s. A deadline is
    /// noticed up to 20 ms late.
    /// </summary>
    public TimeSpan Timeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// The maximum number of requests that wait for answers: 1 to 65,536; default 1,024. One more ends at once with <see
    /// cref="TooManyRequestsException"/>.
    /// </summary>
    public int MaxOutstanding { get; set; } = 1024;

    /// <summary>
    /// How long a request waits for a responder if there is none, within its deadline: 00:00:00 to 1.00:00:00; default 1 s. Then it ends
    /// with <see cref="NoResponderException"/>. The wait begins when the node knows who responds: some tens of milliseconds after the
    /// requester was opened, or later while the membership service is busy.
    /// </summary>
    public TimeSpan WaitForResponder { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>A copy, with the codecs if this has any.</summary>
    internal RequesterOptions Copy() => (RequesterOptions)MemberwiseClone();
}

/// <summary>The options of a requester, with the codecs of its types. It takes a copy when it is opened.</summary>
/// <typeparam name="TRequest">The type of the requests.</typeparam>
/// <typeparam name="TReply">The type of the answers.</typeparam>
public sealed class RequesterOptions<TRequest, TReply> : RequesterOptions
{
    /// <summary>Initializes the options with the defaults.</summary>
    public RequesterOptions()
    {
    }

    /// <summary>Initializes the options with others.</summary>
    /// <param name="options">The options that are copied.</param>
    public RequesterOptions(RequesterOptions options)
        : base(options)
    {
    }

    /// <summary>The codec of requests. Null (default): the codec of the type, for bytes, string, or a <c>[DataContract]</c> type.</summary>
    public IPayloadCodec<TRequest>? RequestCodec { get; set; }

    /// <summary>The codec of answers. Null (default): the codec of the type, for bytes, string, or a <c>[DataContract]</c> type.</summary>
    public IPayloadCodec<TReply>? ReplyCodec { get; set; }
}
