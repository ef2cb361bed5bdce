using System.Buffers.Binary;
using QuickSilver;

namespace ChurnNode.Streams;

// What those publish who join and leave: of each life, numbers that only grow. What one of them had not sent when it left is no loss
// between members that stay, and is counted apart.
internal sealed class RoamingStream
{
    private readonly ITopicSubscriber<ReadOnlyMemory<byte>> _topic;
    private readonly Dictionary<long, long> _lastOf = [];
    private long _received;
    private long _missing;
    private string? _fault;

    private RoamingStream(ITopicSubscriber<ReadOnlyMemory<byte>> topic)
    {
        _topic = topic;
        topic.SubscribeInline(OnMessage, gap => _missing += gap.Last - gap.First + 1);
    }

    public static async Task<RoamingStream> OpenAsync(QuickSilverNode node) =>
        new(await node.OpenSubscriberAsync<ReadOnlyMemory<byte>>(Topics.Roaming));

    public async Task<RoamingReport> CloseAsync()
    {
        await _topic.DisposeAsync();
        return new RoamingReport(_lastOf.Count, _received, _missing, _fault);
    }

    // On the core thread.
    private void OnMessage(in Message<ReadOnlyMemory<byte>> message)
    {
        long life = BinaryPrimitives.ReadInt64LittleEndian(message.Value.Span[8..]);
        long number = BinaryPrimitives.ReadInt64LittleEndian(message.Value.Span);
        if (_lastOf.TryGetValue(life, out long last) && number <= last)
        {
            _fault ??= $"{number} came after {last} of life {life}";
        }

        _lastOf[life] = number;
        _received++;
    }
}
