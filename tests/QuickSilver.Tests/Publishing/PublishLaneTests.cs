using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Publishing.Lane;

namespace QuickSilver.Tests.Publishing;

public sealed class PublishLaneTests
{
    private const long SmallQueue = 64 << 10;
    private const int Source = 3;

    // Each operation: publish so many bytes, or, when negative, take so many messages out.
    private static readonly Arbitrary<int[]> Operations = Gen.Frequency(
        (3, Gen.Choose(0, 300)), (1, Gen.Choose(0, 2_048)), (3, Gen.Choose(-8, -1))).ArrayOf().ToArbitrary();

    [Fact]
    public void Committed_messages_come_out_complete_and_in_order_and_free_their_room() =>
        Prop.ForAll(Operations, operations =>
        {
            var lane = New();
            var waiting = new Queue<byte[]>();
            foreach (int operation in operations.Concat(operations).Concat(operations))
            {
                if (operation >= 0 && TryPublish(lane, Payload(operation, seed: operation + waiting.Count), out var payload))
                {
                    waiting.Enqueue(payload);
                }

                for (int i = operation; i < 0 && waiting.Count > 0; i++)
                {
                    Assert.Equal(waiting.Dequeue(), TakeOne(lane));
                }
            }

            while (waiting.TryDequeue(out var expected))
            {
                Assert.Equal(expected, TakeOne(lane));
            }

            Assert.False(lane.TryPeek(out _));
            Assert.Equal(0, lane.UsedBytes);
            Assert.True(TryPublish(lane, Payload(lane.MaxPayloadBytes, 1), out _));
        }).QuickCheckThrowOnFailure();

    [Fact]
    public void A_full_lane_takes_nothing_until_something_was_taken_from_it()
    {
        var lane = New();
        int taken = 0;
        while (TryPublish(lane, Payload(1_000, taken), out _))
        {
            taken++;
        }

        Assert.Equal(lane.CapacityBytes / 1_024, taken);
        Assert.Equal(lane.CapacityBytes, lane.UsedBytes);
        TakeOne(lane);
        Assert.True(TryPublish(lane, Payload(1_000, 1), out _));
        Assert.False(TryPublish(lane, Payload(1_000, 1), out _));
    }

    [Fact]
    public void A_claim_that_is_not_committed_holds_back_what_was_claimed_after_it_and_nothing_is_lost()
    {
        var lane = New();
        Assert.True(lane.TryClaim(10, out var slow));
        Assert.True(TryPublish(lane, Payload(20, 1), out var after));
        Assert.False(lane.TryPeek(out _));
        slow.Payload.Fill(7);
        lane.Commit(slow, Source, 10);
        Assert.Equal(Enumerable.Repeat((byte)7, 10), TakeOne(lane));
        Assert.Equal(after, TakeOne(lane));
    }

    [Fact]
    public void An_abandoned_claim_is_passed_over()
    {
        var lane = New();
        Assert.True(lane.TryClaim(500, out var claim));
        lane.Abandon(claim);
        Assert.True(TryPublish(lane, Payload(20, 1), out var after));
        Assert.Equal(after, TakeOne(lane));
    }

    // What publishers wrote in earlier laps lies where later commits are looked for.
    [Fact]
    public void Bytes_of_earlier_laps_are_never_taken_for_a_message()
    {
        var lane = New();
        byte[] forged = new byte[lane.MaxPayloadBytes];
        for (int lap = 1; lap < 60; lap++)
        {
            forged.AsSpan().Fill((byte)lap);
            Assert.True(TryPublish(lane, forged, out _));
            TakeOne(lane);
            Assert.False(lane.TryPeek(out _));
        }
    }

    [Fact]
    public async Task Publishers_on_many_threads_lose_nothing_and_each_ones_messages_stay_in_order()
    {
        const int Publishers = 4;
        const int Each = 20_000;
        var lane = New();
        var publishers = Enumerable.Range(0, Publishers).Select(publisher => Task.Run(() =>
        {
            for (int i = 0; i < Each; i++)
            {
                byte[] payload = BitConverter.GetBytes((publisher * Each) + i);
                while (!TryPublish(lane, payload, out _))
                {
                    Thread.Yield();
                }
            }
        })).ToArray();
        int[] next = new int[Publishers];
        for (int left = Publishers * Each; left > 0;)
        {
            if (!lane.TryPeek(out var message))
            {
                Thread.Yield();
                continue;
            }

            int number = BitConverter.ToInt32(message.Payload);
            Assert.Equal(next[number / Each]++, number % Each);
            lane.Take(message);
            lane.Release();
            left--;
        }

        await Task.WhenAll(publishers);
        Assert.All(next, count => Assert.Equal(Each, count));
    }

    private static PublishLane New()
    {
        var lane = new PublishLane(SmallQueue);
        lane.Reserve();
        return lane;
    }

    private static bool TryPublish(PublishLane lane, byte[] payload, out byte[] published)
    {
        published = payload;
        if (!lane.TryClaim(payload.Length, out var claim))
        {
            return false;
        }

        payload.CopyTo(claim.Payload);
        lane.Commit(claim, Source, payload.Length);
        return true;
    }

    private static byte[] TakeOne(PublishLane lane)
    {
        Assert.True(lane.TryPeek(out var message));
        Assert.Equal(Source, message.Source);
        byte[] payload = message.Payload.ToArray();
        lane.Take(message);
        lane.Release();
        return payload;
    }

    private static byte[] Payload(int bytes, int seed)
    {
        byte[] payload = new byte[bytes];
        new Random(seed).NextBytes(payload);
        return payload;
    }
}
