using System.Collections.Immutable;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Ordering;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Ordering;

// Which senders that come and go may publish. Others pass on what a sender has sent when it is not in the cluster any more.
public sealed class FormerRightsTests
{
    private const ulong Topic = 1;
    private const ulong Publisher = 55;
    private const ulong Reader = 66;

    private readonly MulticastCluster _cluster = new(seed: 1, nodes: 2);
    private readonly TopicReceiver _receiver;
    private long _number;

    public FormerRightsTests()
    {
        _cluster[1].Subscribes(Topic);
        _cluster.Commit();
        _cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        _number = _cluster[1].Membership.Applied;
        _receiver = (TopicReceiver)_cluster[1].ReceiverOf(Topic);
        Tell(publishers: [Publisher], joined: true);
        Assert.True(MayPublish);
    }

    private bool? MayPublish => _receiver.MayPublish(_cluster[0].Key);

    [Fact]
    public void A_sender_that_is_away_has_not_lost_its_right()
    {
        Tell(publishers: [], removed: true);
        Assert.True(MayPublish);
    }

    [Fact]
    public void A_sender_that_lost_its_right_does_not_have_it_again_when_it_leaves()
    {
        Tell(publishers: []);
        Assert.False(MayPublish);
        Tell(publishers: [], removed: true);
        Assert.False(MayPublish);
    }

    [Fact]
    public void A_sender_that_came_back_without_its_right_does_not_have_it_again_when_it_leaves()
    {
        Tell(publishers: [], removed: true);
        Tell(publishers: [], joined: true);
        Assert.False(MayPublish);
        Tell(publishers: [], removed: true);
        Assert.False(MayPublish);
    }

    private void Tell(ImmutableArray<ulong> publishers, bool joined = false, bool removed = false)
    {
        var (publisher, subscriber) = (_cluster[0], _cluster[1]);
        var change = new ConfigurationChange
        {
            Number = ++_number,
            IsSnapshot = false,
            Joined = joined ? [NodeOf(publisher, Publisher), NodeOf(subscriber, Reader)] : [],
            Removed = removed ? [publisher.Key] : [],
            Topics = [subscriber.Multicast.ViewOf(Topic)! with { Configuration = _number, Publishers = publishers }],
        };
        subscriber.OnCore(() => subscriber.Multicast.OnConfiguration(change));
        _cluster.Simulation.Run(TimeSpan.FromMilliseconds(1));
    }

    private NodeInfo NodeOf(Host host, ulong identity) => new(
        host.Key, host.Membership.EndPoint, host.Membership.JoinOrder, host == _cluster[0] ? _number : 1, Identity: identity);
}
