using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Endpoints.Rings;
using QuickSilver.Endpoints.Subscriptions;

namespace QuickSilver.Tests.Endpoints;

// I1, I2, I4, I17, F7.
public sealed class ReaderRingTests
{
    private static readonly NodeId Sender = new(1, 1);

    [Fact]
    public void Messages_read_and_gaps_cover_every_message_once_and_in_order()
    {
        var step = Gen.Frequency(
            (5, Gen.Choose(0, 2).Select(sender => sender)),
            (4, Gen.Constant(-1)),
            (1, Gen.Constant(-2)),
            (1, Gen.Constant(-3)));
        var cases =
            from policy in Gen.Elements(SlowReaderPolicy.DropOldest, SlowReaderPolicy.DropWrite, SlowReaderPolicy.Wait)
            from capacity in Gen.OneOf(Gen.Choose(1, 9), Gen.Choose(16, 80))
            from steps in step.ArrayOf(200)
            select (policy, capacity, steps);
        Prop.ForAll(cases.ToArbitrary(), c => Replay(c.policy, c.capacity, c.steps)).QuickCheckThrowOnFailure();
    }

    [Fact]
    public void Dropping_the_oldest_keeps_the_newest_and_reports_the_gap_first()
    {
        var ring = new ReaderRing<int>(3, SlowReaderPolicy.DropOldest);
        Assert.True(ring.TryAttach());
        int dropped = Enumerable.Range(1, 10).Sum(i => ring.Add(new Message<int>(i, Sender, i), 4));
        Assert.Equal(7, dropped);
        Assert.Equal(["gap 1-7", "8", "9", "10"], ReadAll(ring));
    }

    [Fact]
    public void A_reader_that_leaves_gives_back_what_it_has_not_read_before_the_gap_of_what_was_dropped_since()
    {
        var ring = new ReaderRing<int>(16, SlowReaderPolicy.DropOldest);
        Assert.True(ring.TryAttach());
        for (int i = 1; i <= 16; i++)
        {
            ring.Add(new Message<int>(i, Sender, i), 4);
        }

        Assert.Equal("1", ReadOne(ring));
        for (int i = 17; i <= 20; i++)
        {
            ring.Add(new Message<int>(i, Sender, i), 4);
        }

        ring.Detach();
        Assert.True(ring.TryAttach());
        Assert.Equal(["2", "gap 3-5", .. Enumerable.Range(6, 15).Select(i => i.ToString())], ReadAll(ring));
    }

    [Fact]
    public void Dropping_the_newest_keeps_the_oldest_and_reports_the_gap_where_it_is()
    {
        var ring = new ReaderRing<int>(3, SlowReaderPolicy.DropWrite);
        Assert.True(ring.TryAttach());
        for (int i = 1; i <= 5; i++)
        {
            ring.Add(new Message<int>(i, Sender, i), 4);
        }

        Assert.Equal("1", ReadOne(ring));
        ring.Add(new Message<int>(6, Sender, 6), 4);
        Assert.Equal(["2", "3", "gap 4-5", "6"], ReadAll(ring));
    }

    [Fact]
    public void Waiting_refuses_what_has_no_room_and_asks_for_it_when_half_is_free()
    {
        var room = new RoomCount();
        var ring = new ReaderRing<int>(4, SlowReaderPolicy.Wait) { Owner = room };
        Assert.True(ring.TryAttach());
        for (int i = 1; i <= 4; i++)
        {
            Assert.True(ring.CanAccept(4));
            ring.Add(new Message<int>(i, Sender, i), 4);
        }

        Assert.False(ring.CanAccept(4));
        Assert.Equal("1", ReadOne(ring));
        Assert.Equal(0, room.Told);
        Assert.Equal("2", ReadOne(ring));
        Assert.Equal(1, room.Told);
        Assert.True(ring.CanAccept(4));
    }

    [Theory]
    [InlineData(SlowReaderPolicy.Wait)]
    [InlineData(SlowReaderPolicy.DropWrite)]
    public void Without_a_reader_the_oldest_make_room_whatever_the_policy(SlowReaderPolicy policy)
    {
        var ring = new ReaderRing<int>(2, policy);
        for (int i = 1; i <= 5; i++)
        {
            Assert.True(ring.CanAccept(4));
            ring.Add(new Message<int>(i, Sender, i), 4);
        }

        Assert.True(ring.TryAttach());
        Assert.Equal(["gap 1-3", "4", "5"], ReadAll(ring));
    }

    [Fact]
    public void A_reader_that_leaves_lets_a_waiting_sender_on()
    {
        var room = new RoomCount();
        var ring = new ReaderRing<int>(1, SlowReaderPolicy.Wait) { Owner = room };
        Assert.True(ring.TryAttach());
        ring.Add(new Message<int>(1, Sender, 1), 4);
        Assert.False(ring.CanAccept(4));
        ring.Detach();
        Assert.Equal(1, room.Told);
        Assert.True(ring.CanAccept(4));
    }

    [Fact]
    public void Bytes_are_bounded_as_well_as_messages()
    {
        var ring = new ReaderRing<byte[]>(1024, SlowReaderPolicy.Wait);
        Assert.True(ring.TryAttach());
        const int Large = 16 << 20;
        for (int i = 1; i <= 4; i++)
        {
            Assert.True(ring.CanAccept(Large));
            ring.Add(new Message<byte[]>([], Sender, i), Large);
        }

        Assert.False(ring.CanAccept(Large));
    }

    [Fact]
    public void A_message_of_bytes_stays_the_readers_until_the_next_is_asked_for()
    {
        var ring = new ReaderRing<ReadOnlyMemory<byte>>(2, SlowReaderPolicy.DropOldest);
        Assert.True(ring.TryAttach());
        ring.AddBytes([1, 1], Sender, 1);
        Assert.Equal(RingTake.Message, ring.Take(new NoWaiter(), out var first, out _));
        for (byte i = 2; i < 50; i++)
        {
            ring.AddBytes([i, i], Sender, i);
        }

        Assert.Equal([1, 1], first.Value.ToArray());
    }

    [Fact]
    public void A_reader_that_takes_several_at_once_has_what_it_was_given_dropped_when_all_is_discarded()
    {
        var ring = Filled(64, 20);
        Assert.Equal("1", ReadOne(ring));
        ring.End(null, discard: true);
        // It had been given eight.
        Assert.Equal("gap 2-8", ReadOne(ring));
        Assert.Equal("gap 9-20", ReadOne(ring));
        Assert.Equal(nameof(RingTake.Ended), ReadOne(ring));
    }

    [Fact]
    public void A_reader_that_takes_several_at_once_reads_all_of_them_to_the_end()
    {
        var ring = Filled(64, 20);
        Assert.Equal("1", ReadOne(ring));
        ring.End(null, discard: false);
        Assert.Equal(Enumerable.Range(2, 19).Select(i => $"{i}"), Enumerable.Range(0, 19).Select(_ => ReadOne(ring)));
        Assert.Equal(nameof(RingTake.Ended), ReadOne(ring));
    }

    [Fact]
    public void Unread_messages_of_a_reader_wait_for_the_next_one()
    {
        var ring = Filled(64, 20);
        Assert.Equal("1", ReadOne(ring));
        Assert.Equal("2", ReadOne(ring));
        ring.Detach();
        Assert.Equal(18, ring.Count);
        Assert.True(ring.TryAttach());
        Assert.Equal(Enumerable.Range(3, 18).Select(i => $"{i}"), ReadAll(ring));
    }

    [Fact]
    public void The_bound_holds_for_what_was_taken_and_what_is_left_together()
    {
        var ring = Filled(64, 64);
        Assert.Equal("1", ReadOne(ring));
        Assert.Equal(63, ring.Count);
        Assert.True(ring.CanAccept(4));
        ring.Add(new Message<int>(65, Sender, 65), 4);
        Assert.False(ring.CanAccept(4));
    }

    [Fact]
    public void Bytes_of_messages_that_were_taken_together_stay_as_they_are_while_more_come()
    {
        var ring = new ReaderRing<ReadOnlyMemory<byte>>(64, SlowReaderPolicy.DropOldest);
        Assert.True(ring.TryAttach());
        byte added = 0;
        while (added < 40)
        {
            ring.AddBytes([++added, added, added], Sender, added);
        }

        for (byte read = 1; read <= 200; read++)
        {
            Assert.Equal(RingTake.Message, ring.Take(new NoWaiter(), out var message, out _));
            ring.AddBytes([++added, added, added], Sender, added);
            Assert.Equal([read, read, read], message.Value.ToArray());
        }
    }

    [Fact]
    public void Nothing_is_buffered_while_there_are_handlers_and_no_reader_has_come()
    {
        var ring = new ReaderRing<int>(2, SlowReaderPolicy.Wait);
        Assert.False(ring.IsOff);
        ring.TryClaim([]);
        Assert.True(ring.IsOff);
        Assert.Equal(0, ring.Add(new Message<int>(1, Sender, 1), 4));
        Assert.Equal(0, ring.Count);
        Assert.True(ring.TryAttach());
        Assert.False(ring.IsOff);
        ring.Add(new Message<int>(2, Sender, 2), 4);
        Assert.Equal(["2"], ReadAll(ring));
    }

    private static bool Replay(SlowReaderPolicy policy, int capacity, int[] steps)
    {
        var ring = new ReaderRing<int>(capacity, policy);
        ring.TryAttach();
        long[] sent = new long[3];
        long[] seen = new long[3];
        int held = 0;
        foreach (int step in steps)
        {
            if (step >= 0)
            {
                if (policy == SlowReaderPolicy.Wait && !ring.CanAccept(4))
                {
                    continue;
                }

                ring.Add(new Message<int>(step, new NodeId((ulong)step, 1), ++sent[step]), 4);
            }
            else if (step == -2)
            {
                // A gap from below, of two messages.
                ring.TryAddGap(new GapNotice(new NodeId(0, 1), sent[0] + 1, sent[0] + 2, GapReason.SenderLeft));
                sent[0] += 2;
            }
            else if (step == -3)
            {
                // The reader leaves in the middle, and another comes.
                ring.Detach();
                ring.TryAttach();
            }
            else if (!Check(ring, seen))
            {
                return false;
            }

            held = Math.Max(held, (int)ring.Count);
        }

        while (ring.Count > 0 || !seen.SequenceEqual(sent))
        {
            if (!Check(ring, seen))
            {
                return false;
            }
        }

        return held <= capacity;
    }

    // One step of the reader: what comes must continue its sender's numbers.
    private static bool Check(ReaderRing<int> ring, long[] seen)
    {
        switch (ring.Take(new NoWaiter(), out var message, out var gap))
        {
            case RingTake.Message:
                return message.Sequence == ++seen[message.Value];
            case RingTake.Gap:
                bool continues = gap.First == seen[gap.Sender.Id] + 1 && gap.Last >= gap.First;
                seen[gap.Sender.Id] = gap.Last;
                return continues;
            default:
                return ring.Count == 0;
        }
    }

    private static ReaderRing<int> Filled(int capacity, int messages)
    {
        var ring = new ReaderRing<int>(capacity, SlowReaderPolicy.Wait);
        Assert.True(ring.TryAttach());
        for (int i = 1; i <= messages; i++)
        {
            ring.Add(new Message<int>(i, Sender, i), 4);
        }

        return ring;
    }

    private static string ReadOne(ReaderRing<int> ring) => ring.Take(new NoWaiter(), out var message, out var gap) switch
    {
        RingTake.Message => message.Value.ToString(),
        RingTake.Gap => $"gap {gap.First}-{gap.Last}",
        var other => other.ToString(),
    };

    private static List<string> ReadAll(ReaderRing<int> ring)
    {
        var read = new List<string>();
        while (ReadOne(ring) is var one && one != nameof(RingTake.Wait))
        {
            read.Add(one);
        }

        return read;
    }

    private sealed class NoWaiter : IRingWaiter
    {
        public void Wake()
        {
        }
    }

    private sealed class RoomCount : IRingOwner
    {
        public int Told { get; private set; }

        public void OnRoom() => Told++;

        public void OnReader()
        {
        }

        public void OnReaderEnded(UnhandledMessages? unhandled)
        {
        }
    }
}
