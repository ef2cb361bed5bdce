using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using System.Threading.Channels;
using QuickSilver;
using QuickSilver.Hosting;

namespace QuickSilverWeb;

// Called on the node's core thread, so it never waits: a browser that is slow loses its oldest readings.
public sealed class Browsers : ITopicHandler<Reading>
{
    private readonly ConcurrentDictionary<Channel<Reading>, byte> _channels = new();

    public void Handle(in Message<Reading> message)
    {
        foreach (var (channel, _) in _channels)
        {
            channel.Writer.TryWrite(message.Value);
        }
    }

    public async IAsyncEnumerable<Reading> ReadAsync([EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var channel = Channel.CreateBounded<Reading>(new BoundedChannelOptions(64) { FullMode = BoundedChannelFullMode.DropOldest });
        _channels.TryAdd(channel, 0);
        try
        {
            await foreach (var reading in channel.Reader.ReadAllAsync(cancellationToken))
            {
                yield return reading;
            }
        }
        finally
        {
            _channels.TryRemove(channel, out _);
        }
    }
}
