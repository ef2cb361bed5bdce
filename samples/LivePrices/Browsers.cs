using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using System.Threading.Channels;
using QuickSilver;
using QuickSilver.Hosting;

namespace LivePrices;

// Distributes prices to the browsers that are connected by server-sent events. It is called on the node's core thread, so it never waits: a
// browser that is slow loses its oldest prices, and holds up neither the node nor the other browsers.
internal sealed class Browsers : ITopicHandler<Price>
{
    private readonly ConcurrentDictionary<Channel<Price>, byte> _channels = new();

    public void Handle(in Message<Price> message)
    {
        foreach (var (channel, _) in _channels)
        {
            channel.Writer.TryWrite(message.Value);
        }
    }

    public async IAsyncEnumerable<Price> ReadAsync([EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var channel = Channel.CreateBounded<Price>(new BoundedChannelOptions(64) { FullMode = BoundedChannelFullMode.DropOldest });
        _channels.TryAdd(channel, 0);
        try
        {
            await foreach (var price in channel.Reader.ReadAllAsync(cancellationToken))
            {
                yield return price;
            }
        }
        finally
        {
            _channels.TryRemove(channel, out _);
        }
    }
}
