using QuickSilver.Multicast;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Ordering;

namespace QuickSilver.Seeds.Tests.Infrastructure.Courses;

// A member that subscribes to topics and publishes in them without the right: with its own streams, its own keys and numbers that continue,
// so that only the right distinguishes its messages from others.
internal sealed class UnlawfulPublisher(MulticastNode node)
{
    private readonly Dictionary<ulong, TopicNumbers> _numbers = [];

    public void Publish(ulong topic, ReadOnlySpan<byte> payload)
    {
        if (node.ViewOf(topic) is not { } view)
        {
            return;
        }

        if (!_numbers.TryGetValue(topic, out var numbers))
        {
            _numbers.Add(topic, numbers = new TopicNumbers());
        }

        // A subscriber knows the region that it is in itself.
        var known = view.Regions.RemoveAll(region => node.RegionOf(region) is null or { Members: [] });
        var sender = new TopicSender(new ChannelSpec(topic), numbers, node.Topics);
        sender.Apply(view with { Routed = true, Address = null, Regions = known });
        if (sender.HasRoom && sender.RoomBytes > payload.Length)
        {
            sender.TrySend(payload, observer: null);
        }
    }
}
