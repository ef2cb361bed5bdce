using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Checkers;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Tests.Checkers;

// I11 on histories of one sender and two that listen, of a view of four that has two replicas.
public sealed class AgreementCheckerTests
{
    private const ulong Topic = 0xF00D;

    private static readonly NodeKey Sender = new(0xA, 1);
    private static readonly NodeKey[] Listening = [new(0xB, 1), new(0xC, 1)];
    private static readonly NodeKey Other = new(0xD, 1);
    private static readonly RegionView View = new()
    {
        RegionId = 0xAB,
        Number = 1,
        Configuration = 4,
        Group = null,
        Members = [Sender, .. Listening, Other],
        Repair = new RepairRules(Replicas: 2),
    };

    private TimeSpan _now;

    [Fact]
    public void A_departed_senders_message_that_only_some_members_have_is_a_violation()
    {
        var history = Begun();
        Send(history, 1, 2, 3);
        Deliver(history, to: 0, 1, 2, 3);
        Deliver(history, to: 1, 1, 3);
        Stop(history, Sender);
        var thrown = Assert.Throws<InvariantException>(history.AssertHolds);
        Assert.Equal("I11", Assert.Single(history.Violations).Invariant);
        Assert.Contains("subscription 1 at node 1 did not receive message 2 ", thrown.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Messages_that_all_or_no_members_have_are_no_violation()
    {
        var history = Begun();
        Send(history, 1, 2, 3);
        Deliver(history, to: 0, 1, 3);
        Deliver(history, to: 1, 1, 3);
        Stop(history, Sender);
        history.AssertHolds();
    }

    [Fact]
    public void Messages_of_a_live_sender_belong_to_another_invariant()
    {
        var history = Begun();
        Send(history, 1);
        Deliver(history, to: 0, 1);
        history.AssertHolds();
    }

    [Fact]
    public void Nothing_is_demanded_once_as_many_are_gone_as_keep_a_packet()
    {
        var history = Begun();
        Send(history, 1);
        Deliver(history, to: 0, 1);
        Stop(history, Sender);
        Stop(history, Other);
        history.AssertHolds();
    }

    [Fact]
    public void Nor_of_nodes_that_came_later_or_never_got_the_view_or_may_have_parted()
    {
        var history = Begun(since: 5);
        Send(history, 1);
        Deliver(history, to: 0, 1);
        Stop(history, Sender);
        history.AssertHolds();

        history = Begun(toldView: false);
        Send(history, 1);
        Deliver(history, to: 0, 1);
        Stop(history, Sender);
        history.AssertHolds();

        history = Begun(mayPart: true);
        Send(history, 1);
        Deliver(history, to: 0, 1);
        Stop(history, Sender);
        history.AssertHolds();
    }

    // The second gets the view, and subscribes in this configuration.
    private History Begun(long since = 4, bool toldView = true, bool mayPart = false)
    {
        var history = new History(new AgreementChecker { MayPart = mayPart });
        for (int i = 0; i < Listening.Length; i++)
        {
            var change = new ConfigurationChange { Number = 4, IsSnapshot = false, Regions = i == 0 || toldView ? [View] : [] };
            history.Configured(Step(), i, Listening[i], change);
            history.Activated(Step(), Endpoint(i), Listening[i], i == 0 ? 4 : since);
        }

        return history;
    }

    private void Send(History history, params long[] numbers)
    {
        foreach (long number in numbers)
        {
            history.Sent(Step(), new MessageId(Sender, Topic, number), [View]);
        }
    }

    private void Deliver(History history, int to, params long[] numbers)
    {
        foreach (long number in numbers)
        {
            history.Delivered(Step(), Endpoint(to), new MessageId(Sender, Topic, number), 0);
        }
    }

    private void Stop(History history, NodeKey life) => history.Stopped(Step(), 9, life);

    private TimeSpan Step() => _now += TimeSpan.FromMilliseconds(1);

    private static Subscription Endpoint(int node) => new(node, node, Topic);
}
