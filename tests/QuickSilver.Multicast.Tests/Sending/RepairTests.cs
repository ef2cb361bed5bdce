using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Sending;

// What a sender sends again to members that ask, and what it does not.
public sealed class RepairTests
{
    private readonly LoneSender _sender = new LoneSender().Opened();

    public RepairTests() => _sender.Send(20);

    [Fact]
    public void A_member_that_asks_alone_gets_the_packets_alone()
    {
        _sender.Ask(1, 3, 5);

        var repairs = _sender.TakeRepairs();
        Assert.Equal([3, 4, 5], repairs.Select(packet => packet.Sequence));
        Assert.All(repairs, packet => Assert.Equal(LoneMember.EndPointOf(_sender.Keys[1]), packet.To));
        Assert.Empty(_sender.Path.TakeSpread(PacketKind.Data));
        Assert.Equal(3, _sender.Counters.RepairsSent);
    }

    [Fact]
    public void A_packet_that_is_sent_again_has_the_mark_of_a_repair_and_is_the_same_otherwise()
    {
        byte[] original = _sender.Path.Runs.SelectMany(run => run).Single(packet => packet.Sequence == 3).Bytes;
        _sender.Ask(1, 3, 3);
        byte[] repair = Assert.Single(_sender.TakeRepairs()).Bytes;
        // To all, as two ask.
        _sender.Ask(2, 3, 3);
        byte[] repairOfAll = Assert.Single(_sender.Path.TakeSpread(PacketKind.Data)).Bytes;

        Assert.Equal(repair, repairOfAll);
        Assert.Equal(DropReason.None, PacketHeader.Validate(repair, LoneMember.Cluster));
        Assert.Equal(PacketFlags.Repair, new PacketHeader(repair).Flags & ~new PacketHeader(original).Flags);
        Assert.Equal(8, (int)PacketFlags.Repair);
        PacketTemplate.AddFlags(original, PacketFlags.Repair);
        PacketTemplate.Seal(original);
        Assert.Equal(original, repair);
    }

    [Fact]
    public void When_a_second_member_asks_within_the_window_all_get_it()
    {
        _sender.Ask(0, 3, 3);
        _sender.TakeRepairs();

        _sender.Ask(1, 3, 3);

        Assert.Equal(3, Assert.Single(_sender.Path.TakeSpread(PacketKind.Data)).Sequence);
        Assert.Empty(_sender.TakeRepairs());
    }

    [Fact]
    public void For_a_request_after_a_packet_went_to_all_the_packet_is_on_the_way()
    {
        _sender.Ask(0, 3, 3);
        _sender.Ask(1, 3, 3);
        _sender.TakeRepairs();
        _sender.Path.TakeSpread(PacketKind.Data);

        _sender.Ask(2, 3, 3);

        Assert.Empty(_sender.TakeRepairs());
        Assert.Empty(_sender.Path.TakeSpread(PacketKind.Data));
    }

    [Fact]
    public void A_second_member_that_asks_later_gets_it_alone()
    {
        _sender.Ask(0, 3, 3);
        _sender.TakeRepairs();
        _sender.Advance(_sender.Options.ReorderWindow);

        _sender.Ask(1, 3, 3);

        Assert.Single(_sender.TakeRepairs());
        Assert.Empty(_sender.Path.TakeSpread(PacketKind.Data));
    }

    [Fact]
    public void The_same_member_that_asks_again_gets_it_again_alone_and_not_before_the_window_is_over()
    {
        _sender.Ask(0, 3, 3);
        _sender.Ask(0, 3, 3);
        Assert.Single(_sender.TakeRepairs());

        _sender.Advance(_sender.Options.ReorderWindow);
        _sender.Ask(0, 3, 3);

        Assert.Single(_sender.TakeRepairs());
        Assert.Empty(_sender.Path.TakeSpread(PacketKind.Data));
    }

    [Fact]
    public void None_is_sent_while_one_may_be_on_its_way_behind_the_stream()
    {
        _sender.Ask(0, 3, 3, known: 5);
        _sender.TakeRepairs();
        _sender.Send(10);
        _sender.Advance(50);

        // It went behind packet 20: who does not know of that one yet has the answer on the way.
        _sender.Ask(0, 3, 3, known: 19);
        Assert.Empty(_sender.TakeRepairs());

        _sender.Ask(0, 3, 3, known: 20);
        Assert.Single(_sender.TakeRepairs());
    }

    [Fact]
    public void An_answer_is_thought_to_be_on_its_way_for_a_bounded_time()
    {
        _sender.Ask(0, 3, 3, known: 5);
        _sender.TakeRepairs();
        _sender.Advance(_sender.Options.PullRepeatMax);

        _sender.Ask(0, 3, 3, known: 5);

        Assert.Single(_sender.TakeRepairs());
    }

    [Fact]
    public void Stable_packets_are_sent_to_no_member()
    {
        _sender.Ack(10);

        _sender.Ask(0, 1, 12);

        Assert.Equal([11, 12], _sender.TakeRepairs().Select(packet => packet.Sequence));
    }

    [Fact]
    public void One_request_is_answered_with_so_many_packets_at_most()
    {
        _sender.Ask(0, 1, 20, most: 4);

        Assert.Equal([1, 2, 3, 4], _sender.TakeRepairs().Select(packet => packet.Sequence));
    }

    [Fact]
    public void No_more_is_sent_again_than_the_node_may()
    {
        var options = new MulticastOptions { ClusterId = LoneMember.Cluster, RepairBytesPerSecond = 1_472 };
        var sender = new LoneSender(options: options).Opened();
        sender.Send(20);

        sender.Ask(0, 1, 20);

        Assert.InRange(sender.TakeRepairs().Count, 1, 2);
        Assert.Equal(1, sender.Counters.RepairsPutOff);
        sender.Advance(5_000);
        sender.Ask(0, 10, 20);
        Assert.NotEmpty(sender.TakeRepairs());
    }

    [Fact]
    public void A_packet_that_all_lack_goes_to_all_once()
    {
        _sender.AskForAll(3, 5);
        _sender.AskForAll(3, 5);

        Assert.Equal([3, 4, 5], ToAll());
        Assert.Empty(_sender.TakeRepairs());
    }

    [Fact]
    public void A_packet_that_all_lacked_before_it_was_sent_again_is_not_sent_once_more()
    {
        _sender.AskForAll(3, 3);
        ToAll();
        _sender.Advance(20);

        _sender.AskForAll(3, 3, ageMilliseconds: 25);
        Assert.Empty(ToAll());

        // Reported after it was sent again: perhaps the group reaches no member, so the leader gets it, too.
        _sender.AskForAll(3, 3, ageMilliseconds: 5);
        Assert.Equal([3], ToAll());
        Assert.Equal(LoneMember.EndPointOf(_sender.Keys[0]), Assert.Single(_sender.TakeRepairs()).To);
    }

    [Fact]
    public void A_packet_sent_to_all_waits_twice_as_long_each_time()
    {
        double wait = _sender.Options.PullRepeat.TotalMilliseconds;
        _sender.AskForAll(3, 3);
        for (int times = 1; times <= 3; times++)
        {
            wait *= 2;
            ToAll();
            _sender.Advance(wait - 1);
            _sender.AskForAll(3, 3);
            Assert.Empty(ToAll());

            _sender.Advance(2);
            _sender.AskForAll(3, 3);
            Assert.Equal([3], ToAll());
        }
    }

    [Fact]
    public void A_leader_that_says_that_all_lack_everything_gets_one_answer()
    {
        _sender.AskForAll(0, SequenceRanges.MaxNumber, most: 4);

        Assert.Equal([1, 2, 3, 4], ToAll());
        Assert.Single(_sender.TakeAnnouncements());
    }

    [Fact]
    public void A_packet_that_goes_to_all_in_copies_counts_once_for_each_copy()
    {
        var options = new MulticastOptions { ClusterId = LoneMember.Cluster, RepairBytesPerSecond = 1 << 20 };
        var sender = new LoneSender(options: options, usesGroup: false, copies: 100).Opened();
        sender.Send(100);
        int bytes = 0;
        for (int times = 0; times < 100; times++)
        {
            // Two members that lie ask for the same again and again, so it goes to all.
            sender.Ask(0, 1, 1);
            sender.Ask(1, 1, 1);
            sender.Advance(10);
            bytes += sender.TakeRepairs().Sum(packet => packet.Bytes.Length);
            bytes += sender.Path.TakeSpread(PacketKind.Data).Sum(packet => packet.Bytes.Length) * 100;
        }

        Assert.InRange(bytes, 1, 2 << 20);
    }

    [Fact]
    public void Packets_that_the_system_refused_are_not_noted_as_sent()
    {
        _sender.ControlPort.Outcome = SendOutcome.Refused;
        _sender.Ask(0, 3, 3, known: 5);
        Assert.Equal(0, _sender.Counters.RepairsSent);

        _sender.ControlPort.Outcome = SendOutcome.Sent;
        _sender.Ask(0, 3, 3, known: 5);

        Assert.Single(_sender.TakeRepairs());
    }

    private List<long> ToAll() => _sender.Path.TakeSpread(PacketKind.Data).ConvertAll(packet => packet.Sequence);
}
