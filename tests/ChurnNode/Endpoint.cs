using System.Buffers.Binary;
using QuickSilver;

namespace ChurnNode;

// One subscription from its opening to its end: what came has to be one piece of the topic, each message once and in order.
internal sealed class Endpoint
{
    private readonly ITopicSubscriber<ReadOnlyMemory<byte>> _topic;
    private readonly int _number;
    private readonly bool _isKept;
    private volatile bool _isClosed;
    private long _first;
    private long _last;
    private long _lastSequence;
    private long _received;
    private string? _fault;

    private Endpoint(ITopicSubscriber<ReadOnlyMemory<byte>> topic, int number, bool isKept)
    {
        (_topic, _number, _isKept) = (topic, number, isKept);
        topic.SubscribeInline(OnMessage, gap => _fault ??= GapFault.Of(gap, _isClosed));
    }

    public static async Task<Endpoint> OpenAsync(QuickSilverNode node, int topic, bool isKept) =>
        new(await node.OpenSubscriberAsync<ReadOnlyMemory<byte>>(Topics.Data(topic)), topic, isKept);

    public async Task CloseAsync()
    {
        if (!_isClosed)
        {
            _isClosed = true;
            await _topic.DisposeAsync();
        }
    }

    public EndpointReport Report() => new(_number, _isKept, _first, _last, _received, _fault);

    // On the core thread; read by others after the endpoint was closed.
    private void OnMessage(in Message<ReadOnlyMemory<byte>> message)
    {
        long number = BinaryPrimitives.ReadInt64LittleEndian(message.Value.Span);
        if (_received == 0)
        {
            _first = number;
        }
        else if (number != _last + 1)
        {
            _fault ??= $"{number} came after {_last}, in the topic's numbers {message.Sequence} after {_lastSequence}";
        }

        (_last, _lastSequence) = (number, message.Sequence);
        _received++;
    }
}
