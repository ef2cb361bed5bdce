using System.Net;
using QuickSilver.Core.Sealing;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Regions;
using QuickSilver.Membership.Regions.Addresses;
using QuickSilver.Membership.Tests.Infrastructure;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests.Regions;

// Which nodes get which keys, and when they are other ones.
public sealed class RegionKeyTests
{
    private const ulong Topic = 1;
    private readonly RegionMap _map;
    private long _configuration = 1L << 32;

    public RegionKeyTests()
    {
        var environment = new FakeEnvironment(new FakeWorld(), IPAddress.Loopback, seed: 5);
        _map = new RegionMap(new AddressPlan("test", IPNetwork.Parse("239.192.0.0/14")), 1) { Keys = RegionKeys.Draw(environment) };
        for (int node = 1; node <= 5; node++)
        {
            _map.AddNode(Key(node));
        }

        Set(1, TopicRole.Subscribe);
        Set(2, TopicRole.Subscribe);
        Set(3, TopicRole.Publish);
        Apply();
    }

    [Fact]
    public void Members_and_publishers_get_the_same_key_and_others_none()
    {
        var keys = new[] { 1, 2, 3 }.Select(TheKeyOf).ToList();
        Assert.All(keys, key => Assert.Equal(keys[0], key));
        Assert.NotNull(keys[0]);
        Assert.Empty(_map.NewsOf(Key(4)).Regions);
        Assert.Equal(keys[0], Assert.Single(_map.SnapshotOf(Key(1)).Regions).Key);
    }

    [Fact]
    public void Each_view_has_a_key_of_its_own()
    {
        var keys = new HashSet<SecretKey> { TheKeyOf(1)! };
        for (int round = 0; round < 4; round++)
        {
            Set(4, round % 2 == 0 ? TopicRole.Subscribe : TopicRole.None);
            Apply();
            Assert.True(keys.Add(TheKeyOf(1)!));
        }
    }

    [Fact]
    public void A_node_that_leaves_a_region_gets_its_next_view_without_the_key()
    {
        Set(2, TopicRole.None);
        Apply();
        Assert.NotNull(TheKeyOf(1));
        Assert.Equal(2U, Assert.Single(_map.NewsOf(Key(2)).Regions).Number);
        Assert.Null(TheKeyOf(2));
        Assert.All(_map.SnapshotOf(Key(2)).Regions, view => Assert.Null(view.Key));
    }

    // It was notified of the view when it left, and needs the key when it comes back to the same view as a publisher.
    [Fact]
    public void A_node_that_gets_a_reason_again_gets_the_key()
    {
        Set(2, TopicRole.None);
        Apply();
        Set(2, TopicRole.Publish);
        Apply();
        var view = Assert.Single(_map.NewsOf(Key(2)).Regions);
        Assert.Equal(2U, view.Number);
        Assert.Equal(Assert.Single(_map.SnapshotOf(Key(1)).Regions).Key, view.Key);
    }

    [Theory]
    [InlineData(2)]
    [InlineData(3)]
    public void When_a_node_with_the_key_is_removed_member_or_publisher_a_new_view_has_another(int gone)
    {
        var before = TheKeyOf(1);
        _map.RemoveNode(Key(gone));
        Assert.True(_map.HasChanges);
        Apply();
        Assert.NotNull(TheKeyOf(1));
        Assert.NotEqual(before, TheKeyOf(1));
        Assert.False(_map.HasChanges);
    }

    [Fact]
    public void Two_lives_of_a_service_have_nothing_in_common()
    {
        var world = new FakeWorld();
        var (one, other) = (New(1), New(2));
        Assert.NotEqual(one.OfView(1, 1, 1), other.OfView(1, 1, 1));
        one.RenewCluster(7);
        other.RenewCluster(7);
        Assert.NotEqual(one.Cluster, other.Cluster);

        RegionKeys New(ulong seed) => RegionKeys.Draw(new FakeEnvironment(world, IPAddress.Loopback, seed));
    }

    [Fact]
    public void A_configuration_and_an_inquiry_bring_the_key_of_the_cluster()
    {
        var key = new ClusterKey(12, new SecretKey(new byte[SecretKey.Bytes]));
        var buffer = new ControlBuffer();
        var writer = new ConfigurationWriter(buffer);
        writer.Begin(new ConfigurationHeader(12, 11, IsSnapshot: false, LastRequest: 9, key));
        writer.End(isLast: true);
        Assert.Equal(FrameOutcome.Complete, ControlFrame.TryCut(buffer.Written, 1 << 20, out _, out var body, out _));
        Assert.Equal(key, ConfigurationMessage.Read(body).ClusterKey);

        buffer.Clear();
        new InquiryMessage { Id = 1, WaitMilliseconds = 5, ClusterKey = key }.Write(buffer);
        Assert.Equal(key, InquiryMessage.Read(buffer.Written).ClusterKey);
    }

    [Fact]
    public void A_view_of_a_key_with_other_bytes_is_refused()
    {
        var buffer = new ControlBuffer();
        int start = buffer.Begin(9);
        buffer.Fixed64(1, 5);
        buffer.Bytes(9, [1, 2, 3]);
        buffer.End(start);
        Assert.False(ControlFrame.TryRead<ConfigurationMessage>(buffer.Written, out _, out string? fault));
        Assert.Contains("key of 3 bytes", fault, StringComparison.Ordinal);
    }

    private static NodeKey Key(int number) => new((ulong)number, 1);

    private SecretKey? TheKeyOf(int node) => Assert.Single(_map.NewsOf(Key(node)).Regions).Key;

    private void Set(int node, TopicRole role) => _map.SetRole(Key(node), Topic, role);

    private void Apply() => _map.Apply(++_configuration);
}
