using QuickSilver.Core.Flow;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Repair;

// What others asked for waits for the sockets, and is decided when they ask.
public sealed class PendingRepairTests
{
    private readonly LoneSender _sender = new LoneSender().Opened();

    public PendingRepairTests() => _sender.Send(20);

    [Fact]
    public void Repairs_leave_at_the_end_of_the_turn()
    {
        _sender.Note(1, (3, 4), (7, 7));
        Assert.Empty(_sender.TakeRepairs());

        _sender.Environment.EndTurn();

        Assert.Equal([3, 4, 7], Repairs());
        Assert.Equal(0, _sender.Pending.Count);
    }

    [Fact]
    public void Repairs_leave_before_new_data_that_registered_first()
    {
        var feed = new Counting(() => Repairs().Count);
        _sender.Sockets.Register(feed);
        _sender.Note(1, (3, 4));

        _sender.Environment.EndTurn();

        Assert.Equal(2, feed.Seen);
    }

    [Fact]
    public void Packets_that_all_members_hold_by_then_are_not_sent_again()
    {
        _sender.Note(1, (3, 6));
        _sender.Ack(5);

        _sender.Environment.EndTurn();

        Assert.Equal([6], Repairs());
    }

    [Fact]
    public void A_packet_that_a_second_member_asks_for_in_the_same_turn_goes_to_all()
    {
        _sender.Note(1, (3, 3));
        _sender.Note(2, (3, 3));

        _sender.Environment.EndTurn();

        Assert.Single(_sender.TakeRepairs());
        Assert.Single(_sender.Path.TakeSpread(PacketKind.Data));
    }

    [Fact]
    public void Each_answer_has_a_limit_of_its_own()
    {
        var sender = new LoneSender(options: new MulticastOptions { ClusterId = LoneMember.Cluster, PullAnswerPackets = 2 }).Opened();
        sender.Send(20);
        sender.Note(1, (3, 4), (7, 7));
        sender.Note(2, (8, 9));

        sender.Environment.EndTurn();

        Assert.Equal([3, 4, 8, 9], sender.TakeRepairs().Select(packet => packet.Sequence));
    }

    [Fact]
    public void No_more_ranges_wait_than_a_bound_and_one_turn_of_the_core_thread_decides_all_of_them()
    {
        int before = -1;
        while (_sender.Pending.Count > before)
        {
            before = _sender.Pending.Count;
            _sender.Note(1, [.. Enumerable.Repeat((3L, 4L), 100)]);
        }

        Assert.InRange(_sender.Pending.Count, 1_000, 10_000);

        _sender.Environment.EndOneTurn();

        Assert.Equal(0, _sender.Pending.Count);
        Assert.Equal([3, 4], Repairs());
    }

    [Fact]
    public void A_member_that_asks_without_end_leaves_room_for_the_others()
    {
        for (int pull = 0; pull < 1_000; pull++)
        {
            _sender.Note(1, [.. Enumerable.Repeat((3L, 4L), (pull % 100) + 1)]);
        }

        _sender.Note(2, (7, 7));
        _sender.Environment.EndOneTurn();

        Assert.Equal([3, 4, 7], Repairs());
        // What has left counts no more.
        _sender.Note(1, (9, 9));
        _sender.Environment.EndTurn();
        Assert.Equal([9], Repairs());
    }

    [Fact]
    public void A_stream_that_was_closed_meanwhile_sends_and_denies_nothing()
    {
        _sender.Note(1, (3, 4), (100, 200));
        _sender.Stream.Close("closed");

        _sender.Environment.EndTurn();

        Assert.Empty(_sender.TakeRepairs());
        Assert.Empty(_sender.TakeAnnouncements());
    }

    private List<long> Repairs() => _sender.TakeRepairs().ConvertAll(packet => packet.Sequence);

    // A feed of new data that looks at what has left before it.
    private sealed class Counting(Func<int> look) : IFeed
    {
        public bool IsInLine { get; set; }

        public int Seen { get; private set; }

        public bool Pull(ref PullBudget budget)
        {
            Seen = look();
            return false;
        }
    }
}
