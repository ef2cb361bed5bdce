using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Repair;
using QuickSilver.Multicast.Stability.Tokens;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Stability;

// The bodies of control packets: what is written is read back, and no bytes make a reader throw (T9, T10, T11, F18).
public sealed class ControlBodyTests
{
    private static readonly PacketTemplate Template = new(1, 2, 3, 4, 5);
    private static readonly NodeKey Origin = new(77, 8);

    [Fact]
    public void A_pull_names_the_stream_and_its_ranges()
    {
        var missing = new SequenceRanges(100);
        missing.Add(3, 5);
        missing.Add(9, 9);
        missing.Add(20, 40);
        var packet = new byte[PullRequest.MaxBytes];

        int bytes = PullRequest.Write(packet, Template, Origin, known: 0, missing, after: 0, through: 30);

        Assert.True(PullRequest.TryRead(new PacketHeader(packet.AsSpan(0, bytes)).Body, out var origin, out int count));
        Assert.Equal(Origin, origin);
        Assert.Equal(3, count);
        Assert.Equal((3L, 5L), PullRequest.Range(new PacketHeader(packet).Body, 0));
        Assert.Equal((20L, 30L), PullRequest.Range(new PacketHeader(packet).Body, 2));
    }

    [Fact]
    public void A_pull_never_names_more_ranges_than_fit()
    {
        var missing = new SequenceRanges(1000);
        for (int i = 0; i < 500; i++)
        {
            missing.Add(i * 3, i * 3);
        }

        var packet = new byte[PullRequest.MaxBytes];
        int bytes = PullRequest.Write(packet, Template, Origin, known: 0, missing, after: -1, through: long.MaxValue - 1);

        Assert.Equal(PullRequest.MaxBytes, bytes);
        Assert.True(PullRequest.Write(packet.AsSpan(0, 576), Template, Origin, known: 0, missing, after: -1, through: 1_000) <= 576);
    }

    [Fact]
    public void A_pull_of_what_is_new_leaves_out_what_was_asked_for_before()
    {
        var missing = new SequenceRanges(100);
        missing.Add(3, 5);
        missing.Add(9, 12);
        var packet = new byte[PullRequest.MaxBytes];

        int bytes = PullRequest.Write(packet, Template, Origin, known: 0, missing, after: 10, through: 30);

        var body = new PacketHeader(packet.AsSpan(0, bytes)).Body;
        Assert.True(PullRequest.TryRead(body, out _, out int count));
        Assert.Equal(1, count);
        Assert.Equal((11L, 12L), PullRequest.Range(body, 0));
        Assert.Equal(0, PullRequest.Write(packet, Template, Origin, known: 0, missing, after: 12, through: 30));
    }

    [Fact]
    public void An_acknowledgement_is_read_back()
    {
        var packet = new byte[AggregateAck.Bytes];
        var ack = new AggregateAck(Origin, 10, 8, 12, 3, 4096, 0x1234_5678_9ABC_DEF0);

        ack.Write(packet, Template);

        Assert.True(AggregateAck.TryRead(new PacketHeader(packet).Body, out var read));
        Assert.Equal(ack, read);
    }

    [Fact]
    public void An_acknowledgement_in_ranges_is_read_back_and_one_that_is_cut_short_has_none()
    {
        var held = new SequenceRanges(10);
        held.Add(12, 14);
        held.Add(20, 20);
        var packet = new byte[AggregateAck.MostBytes];
        var ack = new AggregateAck(Origin, 10, 8, 12, 3, 4096, 5);

        int bytes = ack.Write(packet, Template, held: held);

        var body = new PacketHeader(packet.AsSpan(0, bytes)).Body;
        Assert.True(AggregateAck.TryRead(body, out var read));
        Assert.Equal(ack, read);
        Assert.Equal(2, AggregateAck.HeldRanges(body));
        Assert.Equal((12L, 14L), AggregateAck.HeldRange(body, 0));
        Assert.Equal((20L, 20L), AggregateAck.HeldRange(body, 1));
        Assert.Equal(0, AggregateAck.HeldRanges(body[..^1]));
    }

    [Fact]
    public void A_collective_nak_is_read_back_before_the_ranges_that_all_hold_and_one_that_is_cut_short_is_refused()
    {
        var lacked = new SequenceRanges(30);
        for (int i = 0; i < 30; i++)
        {
            lacked.Add(12 + (i * 10), 14 + (i * 10));
        }

        var held = new SequenceRanges(10);
        held.Add(700, 720);
        var packet = new byte[AggregateAck.MostBytes];
        var ack = new AggregateAck(Origin, 10, 8, 12, 3, 4096, 5) { Age = TimeSpan.FromMicroseconds(2_500) };

        int bytes = ack.Write(packet, Template, lacked, held);

        var body = new PacketHeader(packet.AsSpan(0, bytes)).Body;
        Assert.True(AggregateAck.TryRead(body, out var read));
        Assert.Equal(ack, read);
        Assert.Equal(RecoveryRecord.MaxRanges, AggregateAck.LackedRanges(body));
        Assert.Equal((12L, 14L), AggregateAck.LackedRange(body, 0));
        Assert.Equal((202L, 204L), AggregateAck.LackedRange(body, RecoveryRecord.MaxRanges - 1));
        Assert.Equal(1, AggregateAck.HeldRanges(body));
        Assert.Equal((700L, 720L), AggregateAck.HeldRange(body, 0));
        Assert.False(AggregateAck.TryRead(body[..(AggregateAck.Bytes - PacketHeader.Bytes + 50)], out _));
    }

    [Fact]
    public void A_record_without_room_for_all_ranges_reports_less_far_instead_of_more_as_held()
    {
        var record = new RecoveryRecord { Stable = 100, NeighbourThrough = 500 };
        for (int i = 0; i < RecoveryRecord.MaxRanges; i++)
        {
            record.NeighbourGaps.Add(110 + (i * 10), 112 + (i * 10));
            record.Unheld.Gaps.Add(110 + (i * 10), 112 + (i * 10));
        }

        record.Unheld.Through = record.Unheld.KnownThrough = 500;
        var packet = new byte[RecoveryRecord.FixedBytes + (25 * 8)];
        var read = new RecoveryRecord();

        int bytes = record.Write(packet);

        Assert.Equal(bytes, read.TryRead(packet.AsSpan(0, bytes)));
        Assert.Equal(RecoveryRecord.MaxRanges, read.Unheld.Gaps.Count);
        Assert.Equal((500L, 500L), (read.Unheld.Through, read.Unheld.KnownThrough));
        Assert.Equal((5, 159L), (read.NeighbourGaps.Count, read.NeighbourThrough));
        Assert.Equal(0, read.TryRead(packet.AsSpan(0, bytes - 1)));
    }

    [Fact]
    public void A_record_reports_what_all_hold_in_ranges_the_oldest_first_as_far_as_there_is_room()
    {
        var record = new RecoveryRecord { Stable = 100, HeldRanges = new SequenceRanges(200) };
        for (int i = 0; i < 150; i++)
        {
            record.HeldRanges.Add(110 + (i * 3), 111 + (i * 3));
        }

        var packet = new byte[1400];
        var read = new RecoveryRecord();
        int bytes = record.Write(packet);
        Assert.Equal(bytes, read.TryRead(packet.AsSpan(0, bytes)));
        Assert.Equal(record.HeldRanges.Ranges[..RecoveryRecord.MaxHeldRanges].ToArray(), read.HeldRanges!.Ranges.ToArray());
        Assert.Equal(0, read.TryRead(packet.AsSpan(0, bytes - 1)));

        bytes = record.Write(packet.AsSpan(0, RecoveryRecord.FixedBytes + 20));
        Assert.Equal(bytes, read.TryRead(packet.AsSpan(0, bytes)));
        Assert.Equal((110L, 111L), (read.HeldRanges![0].First, read.HeldRanges[0].Last));
        record.HeldRanges = null;
        bytes = record.Write(packet);
        Assert.Equal((bytes, RecoveryRecord.FixedBytes), (read.TryRead(packet.AsSpan(0, bytes)), bytes));
        Assert.Null(read.HeldRanges);
    }

    [Fact]
    public void A_token_is_read_back_with_its_records()
    {
        var token = new Token
        {
            Level = 2,
            Round = 9,
            Leader = Origin,
            To = new NodeKey(8, 2),
            KernelDrops = 12,
            ReceiveBufferBytes = 1 << 20,
            Skipped = { 3, 70_000 },
            Gone = 0x1234_5678_9ABC_DEF0,
            IsDisputed = true,
            IsAnyUnheard = true,
            IsUnheardInView = true,
            IsResting = true,
        };
        for (ulong sender = 1; sender <= 5; sender++)
        {
            var record = token.Add(new NodeKey(sender, 1).Key());
            record.Stable = 1000;
            record.HeldByAll = 1010;
            record.ConsumedByAll = 990;
            record.ReadByAll = 1005;
            record.HeldByAny = 1200;
            record.KnownHeldByAny = 1100;
            record.Replicated = 1001;
            record.ReplicatedByAll = 1003;
            record.Epoch = 0xFFFF_0001_0000_0002;
            record.Through = 1150;
            record.IsGathering = true;
            record.IsPartial = true;
            record.NeighbourGaps.Add(1012, 1020);
            record.NeighbourThrough = 1035;
            record.IsPushWanted = true;
            record.LackedByAll.Add(1030, 1030);
            record.Unheld.Gaps.Add(1014, 1016);
            (record.Unheld.Through, record.Unheld.KnownThrough) = (1040, 1038);
            record.Unheld.Age = TimeSpan.FromMicroseconds(1_700);
        }

        var packet = new byte[1472];
        int bytes = token.Write(packet, Template);
        var read = new Token();

        Assert.True(read.TryRead(new PacketHeader(packet.AsSpan(0, bytes)).Body));
        Assert.Equal(5, read.Count);
        Assert.Equal((9L, Origin, 12L, 1L << 20), (read.Round, read.Leader, read.KernelDrops, read.ReceiveBufferBytes));
        Assert.Equal(new NodeKey(8, 2), read.To);
        Assert.Equal(2, read.Level);
        Assert.Equal([3, 70_000], read.Skipped);
        Assert.Equal((0x1234_5678_9ABC_DEF0ul, true), (read.Gone, read.IsDisputed));
        Assert.True(read.IsAnyUnheard && read.IsUnheardInView);
        Assert.True(read.IsResting);
        var one = read.Find(new NodeKey(3, 1).Key())!;
        Assert.Equal((1000L, 1010L, 990L, 1005L), (one.Stable, one.HeldByAll, one.ConsumedByAll, one.ReadByAll));
        Assert.Equal((1200L, 1100L, 1001L, 1003L), (one.HeldByAny, one.KnownHeldByAny, one.Replicated, one.ReplicatedByAll));
        Assert.Equal((0xFFFF_0001_0000_0002ul, 1150L), (one.Epoch, one.Through));
        Assert.True(one.IsGathering && one.IsPartial);
        Assert.False(one.IsDecided || one.IsRefused);
        Assert.True(one.NeighbourGaps.ContainsAll(1012, 1020));
        Assert.True(one.LackedByAll.Contains(1030));
        Assert.Equal((1035L, true), (one.NeighbourThrough, one.IsPushWanted));
        Assert.Equal([new(1014, 1016)], one.Unheld.Gaps.Ranges.ToArray());
        Assert.Equal((1040L, 1038L), (one.Unheld.Through, one.Unheld.KnownThrough));
        Assert.Equal(TimeSpan.FromMicroseconds(1_700), one.Unheld.Age);
    }

    [Fact]
    public void A_token_of_a_version_without_rest_is_read_as_one_that_does_not_rest()
    {
        var packet = new byte[1472];
        int bytes = new Token { IsResting = true, Applied = 5, Agreed = 4 }.Write(packet, Template);
        var read = new Token();

        Assert.True(read.TryRead(new PacketHeader(packet.AsSpan(0, bytes)).Body[..^1]));

        Assert.Equal((5, 4, false), (read.Applied, read.Agreed, read.IsResting));
    }

    [Fact]
    public void A_token_never_exceeds_one_datagram_and_what_has_waited_comes_first()
    {
        var token = new Token();
        for (ulong sender = 1; sender <= 200; sender++)
        {
            var record = token.Add(new NodeKey(sender, 1).Key());
            record.IsOfDeparted = sender == 150;
        }

        var packet = new byte[1472];
        var seen = new List<NodeKey>();
        while (seen.Count < 200)
        {
            int bytes = token.Write(packet, Template);
            Assert.InRange(bytes, PacketHeader.Bytes, packet.Length);
            var read = new Token();
            Assert.True(read.TryRead(new PacketHeader(packet.AsSpan(0, bytes)).Body));
            Assert.InRange(read.Count, 10, 199);
            // Each of those that were not in a token before, as long as there are any; the departed one again.
            var fresh = Enumerable.Range(0, read.Count).Select(i => read[i].Stream.Sender).Except(seen).ToList();
            Assert.True(fresh.Count >= Math.Min(read.Count - 1, 200 - seen.Count));
            seen.AddRange(fresh);
            Assert.Equal(new NodeKey(150, 1), read[0].Stream.Sender);
            for (int i = 0; i < read.Count; i++)
            {
                token.Find(read[i].Stream)!.IsDone = true;
            }
        }
    }

    [Fact]
    public void Random_bodies_never_throw()
    {
        var random = new Random(7);
        var token = new Token();
        for (int i = 0; i < 50_000; i++)
        {
            var body = new byte[random.Next(200)];
            random.NextBytes(body);
            token.TryRead(body);
            AggregateAck.TryRead(body, out _);
            if (PullRequest.TryRead(body, out _, out int count))
            {
                for (int r = 0; r < count; r++)
                {
                    var (first, last) = PullRequest.Range(body, r);
                    Assert.True(first >= 0 && last >= first - 1);
                }
            }
        }
    }
}
