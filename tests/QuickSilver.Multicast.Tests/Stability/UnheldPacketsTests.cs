using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Schemes;
using QuickSilver.Multicast.Stability.Tokens;

namespace QuickSilver.Multicast.Tests.Stability;

// What none of some members holds, compared with sets of single numbers: each member has reported the numbers up to where packets have
// reached it.
public sealed class UnheldPacketsTests
{
    private const int Numbers = 120;
    private const int Seeds = 1_000;

    [Fact]
    public void Packets_reported_as_held_are_held_by_a_member_and_packets_known_as_lacked_by_none()
    {
        for (int seed = 0; seed < Seeds; seed++)
        {
            var random = new Random(seed);
            byte density = (byte)random.Next(256);
            Member[] all = [.. Enumerable.Range(0, 1 + random.Next(6)).Select(_ => new Member(random, density))];

            AssertTrue(Round(all), all);
        }
    }

    [Fact]
    public void A_later_round_keeps_what_an_earlier_one_has_found_to_be_held()
    {
        for (int seed = 0; seed < Seeds; seed++)
        {
            var random = new Random(seed);
            byte density = (byte)random.Next(256);
            Member[] all = [new(random, density), new(random, density), new(random, density)];
            var earlier = Round(all);
            foreach (var member in all)
            {
                member.Progress(random);
            }

            var later = Of(all[0]);
            later.Continue(earlier, stable: 0);

            for (long n = 1; n <= Numbers; n++)
            {
                Assert.True(!earlier.IsHeld(n) || later.IsHeld(n) || n > later.Through, $"{n} was held with seed {seed}");
                Assert.True(!later.IsHeld(n) || Array.Exists(all, member => member.Holds(n)), $"{n} is not held with seed {seed}");
            }
        }
    }

    [Fact]
    public void More_gaps_than_are_reported_shorten_the_report()
    {
        var missing = new SequenceRanges(100);
        for (int i = 1; i <= 30; i++)
        {
            missing.Add(i * 10);
        }

        var unheld = new UnheldPackets();
        unheld.Set(missing, 500);

        Assert.Equal(RecoveryRecord.MaxRanges, unheld.Gaps.Count);
        Assert.Equal((209, 209), (unheld.Through, unheld.KnownThrough));
        Assert.True(unheld.IsHeld(209));
        Assert.False(unheld.IsHeld(211));
    }

    private static UnheldPackets Round(Member[] all)
    {
        var unheld = Of(all[0]);
        foreach (var member in all[1..])
        {
            unheld.IntersectWith(Of(member));
        }

        return unheld;
    }

    private static UnheldPackets Of(Member member)
    {
        var own = new UnheldPackets();
        own.Set(member.Missing, member.Arrived);
        return own;
    }

    private static void AssertTrue(UnheldPackets unheld, Member[] all)
    {
        Assert.InRange(unheld.Gaps.Count, 0, RecoveryRecord.MaxRanges);
        Assert.True(unheld.KnownThrough <= all.Min(member => member.Arrived));
        for (long n = 1; n <= Numbers; n++)
        {
            Assert.True(!unheld.IsHeld(n) || Array.Exists(all, member => member.Holds(n)), $"{n} is not held");
            bool isLacked = unheld.Gaps.Contains(n) && n <= unheld.KnownThrough;
            Assert.True(!isLacked || Array.TrueForAll(all, member => member.Missing.Contains(n)), $"{n} is not lacked by all");
        }
    }

    private sealed class Member
    {
        public Member(Random random, byte density)
        {
            Arrived = random.Next(Numbers);
            for (long n = 1; n < Arrived; n++)
            {
                if (random.Next(256) < density)
                {
                    Missing.Add(n);
                }
            }
        }

        public SequenceRanges Missing { get; } = new(Numbers);

        public long Arrived { get; private set; }

        public bool Holds(long number) => number <= Arrived && !Missing.Contains(number);

        public void Progress(Random random)
        {
            for (long n = 1; n <= Arrived; n++)
            {
                if (random.Next(4) == 0)
                {
                    Missing.Remove(n);
                }
            }

            Arrived += random.Next(10);
        }
    }
}
