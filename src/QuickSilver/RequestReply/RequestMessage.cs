using System.Buffers.Binary;
using QuickSilver.Endpoints;
using QuickSilver.Serialization;

namespace QuickSilver.RequestReply;

// A request as it is sent. The responder knows the inbox of the requester by the sender of the message.
internal readonly struct RequestMessage<TRequest>(TRequest value, long id, int box, int timeoutMillis)
{
    public TRequest Value { get; } = value;

    /// <summary>The number of the request in its requester's table.</summary>
    public long Id { get; } = id;

    /// <summary>The box of the requester in its node's inbox.</summary>
    public int Box { get; } = box;

    /// <summary>What was left until the deadline when the request was sent.</summary>
    public int TimeoutMillis { get; } = timeoutMillis;

    /// <summary>The receiver's clock when it was delivered.</summary>
    public long ArrivedAt { get; init; }
}

// Little endian: the id (8 bytes), the box (4), the time left in milliseconds (4), and the request by its own codec.
internal sealed class RequestCodec<TRequest>(
    IPayloadCodec<TRequest> request, PayloadSchema schema, TimeProvider time, UndecodableRequests? undecodable = null)
    : IPayloadCodec<RequestMessage<TRequest>>, IDecodeFaultObserver
{
    public const int HeaderBytes = 16;

    public PayloadSchema Schema { get; } = schema;

    public int GetSize(in RequestMessage<TRequest> value) => checked(HeaderBytes + request.GetSize(value.Value));

    public int GetMaxSize(in RequestMessage<TRequest> value) => checked(HeaderBytes + request.GetMaxSize(value.Value));

    public int Write(in RequestMessage<TRequest> value, Span<byte> destination)
    {
        BinaryPrimitives.WriteInt64LittleEndian(destination, value.Id);
        BinaryPrimitives.WriteInt32LittleEndian(destination[8..], value.Box);
        BinaryPrimitives.WriteInt32LittleEndian(destination[12..], value.TimeoutMillis);
        return HeaderBytes + request.Write(value.Value, destination[HeaderBytes..]);
    }

    public RequestMessage<TRequest> Read(ReadOnlySpan<byte> source)
    {
        if (source.Length < HeaderBytes)
        {
            throw PayloadFormatException.Of($"The request is malformed: it has {source.Length} bytes, less than its header");
        }

        long id = BinaryPrimitives.ReadInt64LittleEndian(source);
        int box = BinaryPrimitives.ReadInt32LittleEndian(source[8..]);
        int timeoutMillis = BinaryPrimitives.ReadInt32LittleEndian(source[12..]);
        return new RequestMessage<TRequest>(request.Read(source[HeaderBytes..]), id, box, timeoutMillis)
        {
            ArrivedAt = time.GetTimestamp(),
        };
    }

    public void OnDecodeFault(ReadOnlySpan<byte> payload, NodeId sender, Exception exception)
    {
        // What is shorter does not say whom to answer.
        if (payload.Length >= HeaderBytes)
        {
            long id = BinaryPrimitives.ReadInt64LittleEndian(payload);
            undecodable?.Fail(sender, BinaryPrimitives.ReadInt32LittleEndian(payload[8..]), id, exception);
        }
    }
}
