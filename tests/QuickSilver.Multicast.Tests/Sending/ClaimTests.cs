using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Sending.Acknowledgement;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Multicast.Views;

namespace QuickSilver.Multicast.Tests.Sending;

// Callers that wait for a message to be stable, and what comes of the wait.
public sealed class ClaimTests : IStabilityObserver
{
    private readonly LoneSender _sender = new LoneSender().Opened();
    private readonly ClaimPool _pool = new();
    private readonly List<long> _stable = [];
    private readonly List<(long Sequence, string Reason)> _abandoned = [];

    void IStabilityObserver.OnStable(long sequence) => _stable.Add(sequence);

    void IStabilityObserver.OnAbandoned(long sequence, string reason) => _abandoned.Add((sequence, reason));

    [Fact]
    public void A_claim_is_completed_when_all_members_hold_the_packet_in_which_the_message_ends()
    {
        _sender.Append(3, null);
        _sender.Append(1, Claim(4));
        _sender.Append(1, Claim(5));
        _sender.Stream.Flush();

        _sender.Ack(3);
        Assert.Empty(_stable);
        _sender.Ack(4);
        Assert.Equal([4], _stable);
        _sender.Ack(5);
        Assert.Equal([4, 5], _stable);
    }

    [Fact]
    public void A_message_that_a_caller_waits_for_asks_for_an_acknowledgement()
    {
        _sender.Append(1);
        _sender.Append(1, Claim(2));
        _sender.Append(1);
        _sender.Stream.Flush();

        Assert.Equal([false, true, false], _sender.Path.Runs[0].Select(packet => packet.Flags.HasFlag(PacketFlags.AckWanted)));
    }

    [Fact]
    public void A_message_to_two_regions_is_stable_when_both_hold_it()
    {
        var other = new LoneSender().Opened();
        var claim = _pool.Rent(this, 1, streams: 2);
        _sender.Append(1, claim);
        other.Append(1, claim);
        _sender.Stream.Flush();
        other.Stream.Flush();

        _sender.Ack(1);
        Assert.Empty(_stable);
        other.Ack(1);

        Assert.Equal([1], _stable);
    }

    [Fact]
    public void A_best_effort_stream_completes_a_claim_at_once()
    {
        new LoneSender(StreamClass.BestEffort, usesGroup: false).Opened().Append(1, Claim(1));

        Assert.Equal([1], _stable);
    }

    [Fact]
    public void A_claim_of_all_that_is_packed_is_completed_when_all_members_hold_it()
    {
        _sender.Append(3);
        _sender.Stream.ClaimPacked(Claim(1), wantsAck: false);
        _sender.Append(2);
        _sender.Stream.ClaimPacked(Claim(2), wantsAck: true);
        _sender.Stream.Flush();

        Assert.Equal(
            [false, false, false, false, true], _sender.Path.Runs[0].Select(packet => packet.Flags.HasFlag(PacketFlags.AckWanted)));
        _sender.Ack(2);
        Assert.Empty(_stable);
        _sender.Ack(4);
        Assert.Equal([1], _stable);
        _sender.Ack(5);
        Assert.Equal([1, 2], _stable);
    }

    [Fact]
    public void A_claim_of_all_that_a_best_effort_stream_has_packed_is_completed_when_it_was_sent()
    {
        var sender = new LoneSender(StreamClass.BestEffort, usesGroup: false).Opened();
        sender.Append(2);
        sender.Stream.ClaimPacked(Claim(1), wantsAck: true);
        Assert.Empty(_stable);

        sender.Stream.Flush();

        Assert.Equal([1], _stable);
        Assert.DoesNotContain(sender.Path.Runs[0], packet => packet.Flags.HasFlag(PacketFlags.AckWanted));
    }

    [Fact]
    public void The_room_of_a_stream_ends_with_its_run()
    {
        int most = _sender.Stream.RoomBytes;
        Assert.True(most >= _sender.Options.PacketBytes);
        while (!_sender.Stream.IsFull)
        {
            Assert.InRange(_sender.Stream.RoomBytes, 1, most);
            _sender.Append(1);
        }

        Assert.True(_sender.Stream.RoomBytes <= 0);
        _sender.Stream.Flush();
        Assert.True(_sender.Stream.RoomBytes > 0);
    }

    [Fact]
    public void A_stream_that_closes_abandons_its_claims_with_the_reason()
    {
        _sender.Append(1, Claim(1));
        _sender.Append(1, Claim(2));
        _sender.Stream.Flush();
        _sender.Ack(1);

        _sender.Stream.Close("the node stops");

        Assert.Equal([1], _stable);
        Assert.Equal([(2L, "the node stops")], _abandoned);
        Assert.Equal(0, _sender.Environment.Buffers.LeasedBlocks);
    }

    [Fact]
    public void A_stream_without_a_live_member_counts_as_held_and_sends_nothing_more()
    {
        _sender.Append(200, null);
        _sender.Append(1, Claim(201));
        int sent = _sender.Path.Packets;
        Assert.All(_sender.Keys[..^1], member => Assert.True(_sender.Stream.OnMemberGone(member)));
        Assert.False(_sender.Stream.OnMemberGone(_sender.Keys[^1]));

        _sender.Stream.Abandon();

        Assert.True(_sender.Stream.IsSettled);
        Assert.False(_sender.Stream.AwaitsNews);
        Assert.Equal([201], _stable);
        _sender.Advance(5_000);
        Assert.Equal(sent, _sender.Path.Packets);
        Assert.Empty(_sender.TakeAnnouncements());
    }

    [Fact]
    public void An_acknowledgement_that_leaves_out_a_member_that_the_sender_counts_does_not_count_all()
    {
        Assert.Equal(0UL, _sender.Stream.Live.Gone);
        Assert.NotEqual(GoneMark.Of(_sender.Keys[1]), _sender.Stream.Live.Gone);

        _sender.Stream.OnMemberGone(_sender.Keys[1]);

        Assert.NotEqual(0UL, _sender.Stream.Live.Gone);
        Assert.Equal(GoneMark.Of(_sender.Keys[1]), _sender.Stream.Live.Gone);
    }

    [Fact]
    public void The_pool_keeps_released_claims_up_to_a_limit()
    {
        var claims = Enumerable.Range(1, ClaimPool.MostKept + 1).Select(n => Claim(n)).ToList();
        claims.ForEach(claim => claim.Release());
        var again = Enumerable.Range(1, ClaimPool.MostKept + 1).Select(n => Claim(n)).ToHashSet();
        Assert.Equal(ClaimPool.MostKept, claims.Count(again.Contains));
    }

    private StabilityClaim Claim(long sequence) => _pool.Rent(this, sequence, streams: 1);
}
