using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Sending;

// How much of a stream goes out, when, and in which runs.
public sealed class WindowTests
{
    private const int Window = 128;
    private const int RepairWindows = 4;
    // What a block of packet memory holds.
    private const int Run = 44;

    private readonly LoneSender _sender = new LoneSender().Opened();

    [Fact]
    public void Nothing_is_sent_before_most_members_know_the_view()
    {
        var sender = new LoneSender();
        sender.Send(1);
        sender.Advance(sender.Options.ReconfigurationPause - TimeSpan.FromTicks(1));
        Assert.Empty(sender.Path.Runs);

        sender.Advance(TimeSpan.FromTicks(1));

        Assert.Equal(1, sender.Path.Packets);
    }

    [Fact]
    public void Whole_runs_go_at_once_and_a_flush_sends_the_rest()
    {
        _sender.Append(Run);
        Assert.Empty(_sender.Path.Runs);
        _sender.Append(2);
        _sender.Environment.EndTurn();
        Assert.Equal([Run], _sender.Path.Runs.Select(run => run.Length));

        _sender.Stream.Flush();

        Assert.Equal([Run, 2], _sender.Path.Runs.Select(run => run.Length));
        Assert.Equal(Run + 2, _sender.Counters.PacketsSent);
    }

    [Fact]
    public void Packets_are_numbered_from_one_without_a_gap()
    {
        _sender.Send(100);

        var sent = _sender.Path.Runs.SelectMany(run => run).Select(packet => packet.Sequence);
        Assert.Equal(Enumerable.Range(1, 100).Select(n => (long)n), sent);
    }

    [Fact]
    public void A_full_window_closes_and_an_acknowledgement_opens_it()
    {
        _sender.Send(Window * 2);
        Assert.Equal(Window, _sender.Path.Packets);

        _sender.Ack(Window);

        Assert.Equal(Window * 2, _sender.Path.Packets);
        Assert.Equal(Window, _sender.Stream.Acknowledged);
    }

    [Fact]
    public void Packets_that_members_have_read_open_the_window_until_so_many_windows_wait_for_repairs()
    {
        _sender.Send(Window * 8);
        AckRead(consumed: 0);
        Assert.Equal(Window * RepairWindows, _sender.Path.Packets);

        AckRead(consumed: Window);
        Assert.Equal(Window * (RepairWindows + 1), _sender.Path.Packets);
    }

    [Fact]
    public void Packets_that_members_hold_and_have_not_read_keep_the_window_closed()
    {
        _sender.Send(Window * 2);

        _sender.Ack(stable: Window, consumed: 0, read: 0);

        Assert.Equal(Window, _sender.Path.Packets);
    }

    [Fact]
    public void A_window_that_opens_by_little_waits_until_a_good_part_of_a_run_fits()
    {
        _sender.Send(Window * 2);

        _sender.Ack((Window / 4) - 1);
        Assert.Equal(Window, _sender.Path.Packets);

        _sender.Ack(Window / 4);
        Assert.InRange(_sender.Path.Packets, Window + 1, Window + (Window / 4));
    }

    [Fact]
    public void An_acknowledgement_of_more_than_was_sent_counts_as_of_what_was_sent()
    {
        _sender.Send(10);

        _sender.Ack(1_000_000);

        Assert.Equal(10, _sender.Stream.Acknowledged);
        Assert.Equal((10, 10), _sender.Stream.Through);
        Assert.False(_sender.Stream.HasSent(11));
    }

    [Fact]
    public void An_acknowledgement_that_comes_late_takes_nothing_back()
    {
        _sender.Send(10);
        _sender.Ack(8);

        _sender.Ack(3);

        Assert.Equal(8, _sender.Stream.Acknowledged);
        Assert.Equal((10, 8), _sender.Stream.Through);
    }

    [Fact]
    public void A_quarter_of_the_window_asks_for_an_acknowledgement()
    {
        _sender.Send(Window);

        var asking = _sender.Path.Runs.SelectMany(run => run).Where(packet => packet.Flags.HasFlag(PacketFlags.AckWanted));
        Assert.Equal([32, 64, 96, 128], asking.Select(packet => packet.Sequence));
    }

    [Fact]
    public void An_acknowledgement_sends_whole_runs_only_unless_a_flush_is_due()
    {
        _sender.Send(1);
        _sender.Append(3);

        _sender.Ack(1);

        Assert.Equal(1, _sender.Path.Packets);
    }

    [Fact]
    public void A_busy_system_is_asked_again_soon_and_nothing_counts_as_sent()
    {
        _sender.Path.Outcome = SendOutcome.Busy;
        _sender.Send(2);
        Assert.Equal((0, 0), _sender.Stream.Through);
        Assert.Equal((1, 0), (_sender.Counters.BusySends, _sender.Counters.PacketsSent));

        _sender.Path.Outcome = SendOutcome.Sent;
        _sender.Advance(1);

        Assert.Equal((2, 0), _sender.Stream.Through);
    }

    [Fact]
    public void A_run_that_some_members_have_is_tried_again_as_it_was()
    {
        _sender.Path.Outcome = SendOutcome.Busy;
        _sender.Send(2);
        _sender.Path.IsUnderWay = true;
        _sender.Send(5);
        Assert.All(_sender.Path.Runs, run => Assert.Equal([1, 2], run.Select(packet => packet.Sequence)));

        _sender.Path.Outcome = SendOutcome.Sent;
        _sender.Path.Finishes = true;
        _sender.Advance(1);

        Assert.Equal(7, _sender.Stream.Through.Sent);
        Assert.Equal([3, 4, 5, 6, 7], _sender.Path.Runs[^1].Select(packet => packet.Sequence));
    }

    [Fact]
    public void A_packet_that_the_system_refuses_is_lost_like_any_other()
    {
        _sender.Path.Outcome = SendOutcome.Refused;
        _sender.Send(2);

        Assert.Equal(2, _sender.Stream.Through.Sent);
        Assert.Equal(1, _sender.Counters.RefusedSends);
        Assert.Equal(2, _sender.Stream.Pending);
    }

    [Fact]
    public void No_more_than_a_run_is_taken_while_the_window_is_closed()
    {
        _sender.Send(Window);
        _sender.Send(Run);
        Assert.True(_sender.Stream.CanTake(100));
        _sender.Send(1);
        Assert.False(_sender.Stream.CanTake(100));

        _sender.Ack(Window);

        Assert.True(_sender.Stream.CanTake(100));
    }

    [Fact]
    public void No_more_is_taken_when_what_is_kept_fills_the_nodes_share_but_by_a_stream_that_keeps_nothing()
    {
        var sender = new LoneSender(options: new MulticastOptions { ClusterId = LoneMember.Cluster, RetentionBytes = 20 * 1_472 }).Opened();
        sender.Send(20);
        Assert.False(sender.Stream.CanTake(100));

        sender.Ack(20);

        Assert.True(sender.Stream.CanTake(1 << 20));
    }

    [Fact]
    public void A_best_effort_stream_keeps_nothing_and_waits_for_no_member()
    {
        var sender = new LoneSender(StreamClass.BestEffort, usesGroup: false).Opened();

        sender.Send(Window * 8);

        Assert.Equal(Window * 8, sender.Path.Packets);
        Assert.True(sender.Stream.IsSettled);
        Assert.All(sender.Path.Runs.SelectMany(run => run), packet => Assert.Equal(StreamClass.BestEffort.Value, packet.StreamClass));
    }

    [Fact]
    public void Packets_that_all_hold_beyond_a_gap_are_kept_no_more()
    {
        _sender.Send(10);

        _sender.Stream.LetGo(5, 8);
        _sender.Ask(0, 1, 10);

        Assert.Equal(6, _sender.Stream.Pending);
        Assert.Equal([1, 2, 3, 4, 9, 10], _sender.TakeRepairs().Select(packet => packet.Sequence));
    }

    // Members read all that is sent, and have consumed up to here.
    private void AckRead(long consumed)
    {
        for (int i = 0; i < 10; i++)
        {
            _sender.Ack(consumed, consumed, read: _sender.Path.Packets);
        }
    }

    [Fact]
    public void A_path_that_reports_room_after_its_stream_was_closed_is_asked_to_send_nothing()
    {
        _sender.Path.Outcome = SendOutcome.Busy;
        _sender.Send(1);
        _sender.Stream.Close("The test ends it.");
        _sender.Path.Outcome = SendOutcome.Sent;
        int tried = _sender.Path.Runs.Count;

        _sender.Path.OnRoom!();
        _sender.Environment.EndTurn();
        _sender.Advance(1_000);

        Assert.Equal(tried, _sender.Path.Runs.Count);
    }
}
