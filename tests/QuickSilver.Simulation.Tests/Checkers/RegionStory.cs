using System.Net;
using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Tests.Checkers;

// A sender at node 1, and subscribers at the nodes 2 and 3 that are in its view, given to some checkers; time passes as the test says.
internal sealed class RegionStory
{
    public const ulong Topic = 0xF00D;
    public const int SenderNode = 1;

    public static readonly NodeKey Sender = new(0xA, 1);

    public RegionStory(params HistoryChecker[] checkers)
    {
        History = new History(checkers);
        View = new RegionView
        {
            RegionId = 0xAB,
            Number = 1,
            Configuration = 4,
            Group = new IPEndPoint(0xEFC00001, 4000),
            Members = [Sender, LifeOf(2), LifeOf(3)],
        };
        foreach (int node in new[] { SenderNode, 2, 3 })
        {
            History.Configured(Now, node, LifeOf(node), new ConfigurationChange { Number = 4, IsSnapshot = false, Regions = [View] });
            if (node != SenderNode)
            {
                History.Activated(Now, Endpoint(node), LifeOf(node), 4);
            }
        }
    }

    public History History { get; }

    public RegionView View { get; }

    public TimeSpan Now { get; private set; }

    public static NodeKey LifeOf(int node) => new(0xA + (ulong)node - SenderNode, 1);

    public static Subscription Endpoint(int node) => new(node, node, Topic);

    public static MessageId Message(long number) => new(Sender, Topic, number);

    public void Pass(double seconds)
    {
        Now += TimeSpan.FromSeconds(seconds);
        History.Look(Now);
    }

    public void Send(params long[] numbers)
    {
        foreach (long number in numbers)
        {
            History.Sent(Now, Message(number), [View]);
        }
    }

    public void Deliver(int node, params long[] numbers)
    {
        foreach (long number in numbers)
        {
            History.Delivered(Now, Endpoint(node), Message(number), 0);
        }
    }

    public void Tell(int node, long first, long last) => History.Gap(Now, Endpoint(node), Sender, first, last);

    public void Stop(int node) => History.Stopped(Now, node, LifeOf(node));

    public void Trouble(int node, ulong topic = 0, bool isTroubled = true) => History.Troubled(Now, node, topic, isTroubled);

    public void AssertViolated(string invariant, params string[] words)
    {
        var thrown = Assert.Throws<InvariantException>(History.AssertHolds);
        Assert.All(History.Violations, violation => Assert.Equal(invariant, violation.Invariant));
        Assert.All(words, word => Assert.Contains(word, thrown.Message, StringComparison.Ordinal));
    }
}
