using System.Collections.Immutable;
using System.Net;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Client.Discovery;
using QuickSilver.Membership.Tests.Infrastructure;

namespace QuickSilver.Membership.Tests.Client.Discovery;

// T4, T12: discovery with a secret.
public sealed class DiscoverySealTests
{
    private static readonly byte[] One = [.. Enumerable.Range(0, 32).Select(static i => (byte)i)];
    private static readonly byte[] Other = [.. Enumerable.Range(1, 32).Select(static i => (byte)i)];

    private static readonly DiscoveryDatagram Question = new(
        DiscoveryKind.Question, DiscoveryDatagram.HashOf("default"), 7, default, new IPEndPoint(IPAddress.Loopback, 9));

    [Fact]
    public void A_node_that_has_the_key_of_a_datagram_reads_it_and_answers_with_that_key()
    {
        var (bytes, length) = Write(new DiscoverySeal(() => [Other]), Question);
        Assert.Equal(64 + DiscoverySeal.TagBytes, length);
        Assert.True(new DiscoverySeal(() => [One, Other]).TryOpen(bytes, out byte[]? key));
        Assert.Same(Other, key);
        // During a rotation, the asker has only this one.
        var (answer, answerLength) = Write(new DiscoverySeal(() => [One, Other]), Question with { Key = key });
        Assert.Equal(length, answerLength);
        Assert.True(new DiscoverySeal(() => [Other]).TryOpen(answer, out _));
        Assert.False(new DiscoverySeal(() => [One]).TryOpen(answer, out _));
    }

    [Fact]
    public void Each_changed_bit_is_noticed()
    {
        var seal = new DiscoverySeal(() => [One]);
        var (bytes, _) = Write(seal, Question);
        for (int bit = 0; bit < bytes.Length * 8; bit++)
        {
            bytes[bit / 8] ^= (byte)(1 << (bit % 8));
            Assert.False(seal.TryOpen(bytes, out _), $"bit {bit}");
            bytes[bit / 8] ^= (byte)(1 << (bit % 8));
        }

        Assert.False(seal.TryOpen(bytes.AsSpan(0, 64), out _));
        Assert.True(seal.TryOpen(bytes, out _));
    }

    [Fact]
    public void Nodes_with_and_without_a_secret_do_not_trust_each_other()
    {
        var plain = new DiscoverySeal(null);
        var certificates = new DiscoverySeal(() => []);
        var seal = new DiscoverySeal(() => [One]);
        var (open, length) = Write(plain, Question);
        Assert.Equal(64, length);
        Assert.True(plain.TryOpen(open, out _));
        Assert.True(certificates.TryOpen(open, out _));
        Assert.False(seal.TryOpen(open, out _));
        Assert.False(plain.TryOpen(Write(seal, Question).Bytes, out _));
    }

    [Fact]
    public void Nodes_with_one_secret_find_each_other_and_those_with_another_are_not_answered()
    {
        var world = new FakeWorld();
        var ours = Enumerable.Range(1, 3).Select(id => Start(world, (ulong)id, One)).ToArray();
        world.Run(TimeSpan.FromSeconds(5));
        Assert.All(ours, static node => Assert.Equal(3, node.Nodes.Count));
        var stranger = Start(world, 9, Other);
        world.Run(TimeSpan.FromSeconds(5));
        Assert.Single(stranger.Nodes);
        Assert.All(ours, static node => Assert.Equal(3, node.Nodes.Count));
        Assert.True(ours.Sum(static node => node.Client.Counters.NotAuthentic) > 0);
        Assert.True(stranger.Client.Counters.NotAuthentic > 0);
    }

    private static (byte[] Bytes, int Length) Write(DiscoverySeal seal, in DiscoveryDatagram datagram)
    {
        byte[] bytes = new byte[DiscoverySeal.MostBytes];
        int length = seal.Write(datagram, bytes);
        return (bytes[..length], length);
    }

    private static FakeNode Start(FakeWorld world, ulong id, byte[] key)
    {
        var environment = world.AddNode(id * 7919);
        ImmutableArray<byte[]> keys = [key];
        var node = new FakeNode(environment, new MembershipClientOptions
        {
            Self = new(id, 1),
            EndPoint = new IPEndPoint(environment.LocalAddress, 5000),
            Discovery = new DiscoveryOptions { Keys = () => keys },
        });
        node.Client.Start();
        return node;
    }
}
