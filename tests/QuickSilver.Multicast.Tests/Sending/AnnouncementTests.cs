using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Sending;

// When a quiet sender says what it has sent, to whom, and how a stream ends.
public sealed class AnnouncementTests
{
    private readonly LoneSender _sender = new LoneSender().Opened();

    [Fact]
    public void An_unacknowledged_sender_announces_its_last_number_ever_more_rarely()
    {
        _sender.Send(3);
        foreach (double wait in new double[] { 5, 10, 20, 40, 80, 160, 250, 250 })
        {
            _sender.Advance(TimeSpan.FromMilliseconds(wait) - TimeSpan.FromTicks(1));
            Assert.Empty(_sender.TakeAnnouncements());
            _sender.Advance(TimeSpan.FromTicks(1));
            var announcement = Assert.Single(_sender.TakeAnnouncements());
            Assert.Equal((3, PacketFlags.None), (announcement.Sequence, announcement.Flags));
        }
    }

    [Fact]
    public void Packets_sent_meanwhile_put_the_announcement_off()
    {
        _sender.Send(1);
        for (int i = 0; i < 10; i++)
        {
            _sender.Advance(4);
            _sender.Send(1);
        }

        Assert.Empty(_sender.TakeAnnouncements());
    }

    [Fact]
    public void An_acknowledged_sender_announces_nothing()
    {
        _sender.Send(3);
        _sender.Ack(3);

        _sender.Advance(5_000);

        Assert.Empty(_sender.TakeAnnouncements());
    }

    [Fact]
    public void A_sender_announces_while_what_all_hold_is_not_consumed()
    {
        _sender.Send(3);
        _sender.Ack(3, consumed: 2);
        _sender.Advance(1_000);
        Assert.NotEmpty(_sender.TakeAnnouncements());

        _sender.Ack(3);
        _sender.Advance(1_000);

        Assert.Empty(_sender.TakeAnnouncements());
    }

    [Fact]
    public void A_best_effort_stream_announces_nothing()
    {
        var sender = new LoneSender(StreamClass.BestEffort, usesGroup: false).Opened();
        sender.Send(3);
        sender.Stream.Supersede(2);

        sender.Advance(5_000);

        Assert.Empty(sender.TakeAnnouncements());
    }

    [Fact]
    public void When_no_member_answers_announcements_go_to_single_members_too()
    {
        _sender.Send(1);
        _sender.Advance(5 + 10);
        Assert.Equal(2, _sender.TakeAnnouncements().Count);
        Assert.Empty(_sender.ControlPort.Take(PacketKind.Announce));

        _sender.Advance(20);

        Assert.Single(_sender.TakeAnnouncements());
        Assert.Equal(_sender.Keys.Select(LoneMember.EndPointOf), _sender.ControlPort.Take(PacketKind.Announce).Select(packet => packet.To));
    }

    [Fact]
    public void An_answer_keeps_announcements_off_single_members()
    {
        _sender.Send(1);
        for (int i = 0; i < 20; i++)
        {
            _sender.Advance(250);
            _sender.Ack(0);
        }

        Assert.NotEmpty(_sender.TakeAnnouncements());
        _sender.ControlPort.Take(PacketKind.Announce);
        _sender.Advance(250);
        Assert.Empty(_sender.ControlPort.Take(PacketKind.Announce));
    }

    [Fact]
    public void Where_each_member_gets_its_copy_announcements_go_to_no_member_twice()
    {
        var sender = new LoneSender(usesGroup: false).Opened();
        sender.Send(1);

        sender.Advance(2_000);

        Assert.True(sender.TakeAnnouncements().Count > 3);
        Assert.Empty(sender.ControlPort.Take(PacketKind.Announce));
    }

    [Fact]
    public void The_member_that_should_acknowledge_is_reported_after_a_long_silence()
    {
        _sender.Send(1);
        _sender.Advance(_sender.Options.AckSilence);
        Assert.Empty(_sender.Suspects);

        _sender.Advance(_sender.Options.AnnounceMax);

        Assert.Equal([_sender.Keys[0]], _sender.Suspects);
    }

    [Fact]
    public void No_member_is_reported_while_acknowledgements_come()
    {
        _sender.Send(1);
        for (int i = 0; i < 10; i++)
        {
            _sender.Advance(500);
            _sender.Ack(0);
        }

        Assert.Empty(_sender.Suspects);
    }

    [Fact]
    public void A_member_that_begins_to_hear_is_notified_while_something_is_open_and_others_are_not()
    {
        _sender.Stream.AnnounceTo(_sender.Keys[1]);
        Assert.Empty(_sender.ControlPort.Take(PacketKind.Announce));
        _sender.Send(2);
        _sender.Stream.OnMemberGone(_sender.Keys[0]);

        _sender.Stream.AnnounceTo(_sender.Keys[0]);
        _sender.Stream.AnnounceTo(_sender.Keys[1]);

        var told = Assert.Single(_sender.ControlPort.Take(PacketKind.Announce));
        Assert.Equal((LoneMember.EndPointOf(_sender.Keys[1]), 2), (told.To, told.Sequence));
    }

    [Fact]
    public void A_superseded_stream_sends_what_is_packed_and_announces_that_it_is_final()
    {
        _sender.Append(3);
        Assert.Equal(0, _sender.Path.Packets);

        _sender.Stream.Supersede(2);

        Assert.Equal(3, _sender.Path.Packets);
        var announcement = Assert.Single(_sender.TakeAnnouncements());
        Assert.Equal((3, PacketFlags.Final), (announcement.Sequence, announcement.Flags));
    }

    [Fact]
    public void A_superseded_stream_is_not_final_while_its_window_is_closed()
    {
        _sender.Send(200);
        _sender.Stream.Supersede(2);
        Assert.Equal(PacketFlags.None, _sender.TakeAnnouncements()[^1].Flags);

        _sender.Ack(128);
        _sender.Advance(1_000);

        var announcement = _sender.TakeAnnouncements()[^1];
        Assert.Equal((200, PacketFlags.Final), (announcement.Sequence, announcement.Flags));
        _sender.Ack(200);
        Assert.True(_sender.Stream.IsSettled);
    }

    [Fact]
    public void A_settled_stream_that_is_superseded_announces_nothing()
    {
        _sender.Send(1);
        _sender.Ack(1);

        _sender.Stream.Supersede(2);
        _sender.Advance(1_000);

        Assert.Empty(_sender.TakeAnnouncements());
    }

    [Fact]
    public void A_stream_is_superseded_once()
    {
        _sender.Send(1);
        _sender.Stream.Supersede(2);
        _sender.TakeAnnouncements();

        _sender.Stream.Supersede(3);

        Assert.Equal(2, _sender.Stream.SupersededAt);
        Assert.Empty(_sender.TakeAnnouncements());
    }

    [Fact]
    public void A_request_for_what_was_never_sent_makes_the_sender_say_so_to_all_once_in_a_while()
    {
        _sender.Send(3);
        _sender.Ack(3);
        _sender.Ask(0, 3, 4);
        _sender.Ask(1, 3, 9);
        Assert.Equal(3, Assert.Single(_sender.TakeAnnouncements()).Sequence);

        _sender.Advance(_sender.Options.AnnounceMax);
        _sender.Ask(1, 3, 9);

        Assert.Single(_sender.TakeAnnouncements());
    }
}
