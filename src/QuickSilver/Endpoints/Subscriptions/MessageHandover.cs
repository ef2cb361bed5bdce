using System.Runtime.CompilerServices;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Serialization;

namespace QuickSilver.Endpoints.Subscriptions;

// The step from a received message to a typed one: decodes it once, in place where the payload is bytes. Core thread.
internal static class MessageHandover<T>
{
    public static NodeId ToSender(NodeKey key) => new(key.Id, key.Incarnation);

    /// <summary>Raw bytes with the library's own codec need no decoding.</summary>
    public static bool IsBytes(IPayloadCodec<T> codec) => typeof(T) == typeof(ReadOnlyMemory<byte>) && codec is MemoryCodec;

    /// <summary>
    /// Passes a message to the only handler or, if that is null, to all handlers and the ring. Static and with the codec and the name as
    /// parameters, so that a message for the only handler does not read the subscription.
    /// </summary>
    public static void HandTo(
        TypedSubscription<T> subscription, IPayloadCodec<T> codec, string topic, HandlerEndpoint<T>? only, in DeliveredMessage message)
    {
        var sender = ToSender(message.Sender);
        var origin = OriginOf(message, topic);
        if (IsBytes(codec))
        {
            // Handlers get the bytes in place; only the ring makes a copy.
            var borrowed = new Message<ReadOnlyMemory<byte>>(message.Memory, sender, message.Sequence) { Origin = origin };
            HandTo(subscription, only, Unsafe.As<Message<ReadOnlyMemory<byte>>, Message<T>>(ref borrowed), message);
        }
        else
        {
            Decode(subscription, codec, only, sender, origin, message);
        }
    }

    private static MessageOrigin OriginOf(in DeliveredMessage message, string topic) =>
        message.ExtensionBytes != 0 && MessageHeaders.Of(message.Extensions, topic) is { } headers
            ? new MessageOrigin(headers)
            : new MessageOrigin(topic);

    // The message is not cleared first: for a large struct, that would cost as much as decoding some of its fields.
    [SkipLocalsInit]
    private static void Decode(
        TypedSubscription<T> subscription,
        IPayloadCodec<T> codec,
        HandlerEndpoint<T>? only,
        NodeId sender,
        MessageOrigin origin,
        in DeliveredMessage message)
    {
        Unsafe.SkipInit(out Message<T> decoded);
        if (TryDecode(subscription, codec, message, out Message<T>.Begin(ref decoded, sender, message.Sequence, origin)))
        {
            HandTo(subscription, only, decoded, message);
        }
        else
        {
            only?.CountDelivered(message.Length);
        }
    }

    private static void HandTo(
        TypedSubscription<T> subscription, HandlerEndpoint<T>? only, in Message<T> message, in DeliveredMessage origin)
    {
        if (only is not null)
        {
            only.CountDelivered(origin.Length);
            only.Deliver(message);
        }
        else
        {
            subscription.Accept(message, origin);
        }
    }

    private static bool TryDecode(TypedSubscription<T> subscription, IPayloadCodec<T> codec, in DeliveredMessage message, out T value)
    {
        try
        {
            codec.Read(message.Span, out value);
            return true;
        }
        catch (OutOfMemoryException) when (subscription.Topic.WaitsForMemory(message))
        {
            // The message counts as refused, and comes again.
            throw;
        }
        catch (Exception exception)
        {
            subscription.OnDecodeFault(message, exception);
            value = default!;
            return false;
        }
    }
}
