using QuickSilver.Serialization;

namespace QuickSilver.Hosting.Patterns;

// The codecs of requests and answers: those of the application, or those of the types. A type without one fails the opening, whose reason
// is in the log and in the health check.
internal sealed record RequestCodecs<TRequest, TReply>(IPayloadCodec<TRequest>? Request, IPayloadCodec<TReply>? Reply)
{
    public IPayloadCodec<TRequest> OfRequest => Request ?? QuickSilverNode.CodecOf<TRequest>();

    public IPayloadCodec<TReply> OfReply => Reply ?? QuickSilverNode.CodecOf<TReply>();
}
