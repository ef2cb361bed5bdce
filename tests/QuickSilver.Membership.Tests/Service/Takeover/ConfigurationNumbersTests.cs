using FsCheck;
using FsCheck.Fluent;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Membership.Service.Stores;
using QuickSilver.Membership.Service.Takeover;

namespace QuickSilver.Membership.Tests.Service.Takeover;

// F17, F22; I7: what nodes claim never uses the numbers up, and never goes without an answer above it.
public sealed class ConfigurationNumbersTests
{
    private const long Ahead = 1L << 24;

    private static ConfigurationNumbers Begin(IMembershipStore? store = null, long known = 0, ulong life = 0x1234567)
    {
        var numbers = new ConfigurationNumbers(store ?? new MemoryMembershipStore(), NullLogger.Instance, life);
        numbers.Load(known);
        return numbers;
    }

    private static long Next(ConfigurationNumbers numbers)
    {
        numbers.Claim(numbers.Use);
        return numbers.Current;
    }

    private static long EpochOf(long configuration) => ConfigurationNumbers.EpochOf(configuration);

    // Claims, each as far ahead as was plausible, made the numbers negative after eight joins.
    [Fact]
    public void Claims_one_after_the_other_raise_the_epoch_no_further_than_one()
    {
        var numbers = Begin();
        long first = EpochOf(Next(numbers));
        int taken = 0;
        for (long epoch = first; epoch < int.MaxValue; epoch = Math.Min(int.MaxValue, epoch + Ahead))
        {
            if (numbers.IsPlausible(epoch << 32))
            {
                taken++;
                numbers.MustExceed(epoch << 32);
                Assert.True(Next(numbers) > epoch << 32);
            }
        }

        Assert.Equal(2, taken);
        Assert.InRange(EpochOf(Next(numbers)), first, first + Ahead + 1);
    }

    [Fact]
    public void Numbers_are_positive_and_grow_and_exceed_every_plausible_claim() =>
        Prop.ForAll(
            Gen.Choose(0, 40).Select(shift => shift).SelectMany(shift => Gen.Choose(1, int.MaxValue).Select(value => (long)value << shift))
                .ListOf().ToArbitrary(),
            claims =>
            {
                var numbers = Begin();
                long last = 0;
                foreach (long claim in claims)
                {
                    bool isPlausible = numbers.IsPlausible(claim);
                    if (isPlausible)
                    {
                        numbers.MustExceed(claim);
                    }

                    long next = Next(numbers);
                    Assert.True(next > last && (!isPlausible || next > claim));
                    last = next;
                }
            }).QuickCheckThrowOnFailure();

    [Fact]
    public void A_host_that_continues_exceeds_what_its_nodes_have_and_accepts_no_more_than_that_as_its_measure()
    {
        long old = (777L << 32) | 5;
        var numbers = Begin(known: old);
        Assert.True(numbers.IsPlausible(old + 3));
        Assert.True(numbers.IsPlausible((778L << 32) | 1));
        Assert.False(numbers.IsPlausible((777 + Ahead + 1) << 32));
        Assert.Equal(778, EpochOf(Next(numbers)));
    }

    [Fact]
    public void A_service_that_knows_of_none_before_takes_what_the_first_nodes_have_and_little_more_after_that()
    {
        var numbers = Begin();
        long old = 200_000_000L << 32;
        Assert.True(numbers.IsPlausible(old));
        Assert.False(numbers.IsPlausible(long.MaxValue));
        numbers.MustExceed(old);
        long first = EpochOf(Next(numbers));
        Assert.Equal(200_000_001, first);
        Assert.True(numbers.IsPlausible((first + Ahead) << 32));
        Assert.False(numbers.IsPlausible((first + Ahead + 1) << 32));
    }

    // Each host continues from what it had itself, so an attack on one life does not shut honest nodes out of the next.
    [Fact]
    public void Many_lives_with_the_worst_claims_in_each_still_number_above_what_their_nodes_have()
    {
        long last = 0;
        for (ulong life = 1; life <= 60; life++)
        {
            var numbers = Begin(known: last, life: life);
            Assert.True(last == 0 || numbers.IsPlausible(last));
            for (int claim = 0; claim < 4; claim++)
            {
                long worst = WorstOf(numbers);
                numbers.MustExceed(worst);
                long next = Next(numbers);
                Assert.True(next > worst && next > last);
                last = next;
            }
        }

        Assert.True(Begin(known: last).IsPlausible(last));

        static long WorstOf(ConfigurationNumbers numbers)
        {
            long epoch = 0;
            for (long bit = 1L << 31; bit > 0; bit >>= 1)
            {
                epoch |= numbers.IsPlausible((epoch | bit) << 32) ? bit : 0;
            }

            return epoch << 32;
        }
    }

    [Fact]
    public void Services_that_know_nothing_of_each_other_begin_apart_and_near_enough_to_meet()
    {
        var one = Begin(life: 0xABCDEF0123456789);
        var other = Begin(life: 0x123456789ABCDEF0);
        Assert.NotEqual(Next(one), Next(other));
        Assert.True(one.IsPlausible(other.Current));
        Assert.True(other.IsPlausible(one.Current));
    }

    [Fact]
    public void A_store_is_continued_and_its_epoch_is_the_measure()
    {
        var store = new MemoryMembershipStore();
        store.SaveEpoch(1000);
        var numbers = Begin(store);
        Assert.True(numbers.IsPlausible((1000 + Ahead) << 32));
        Assert.False(numbers.IsPlausible((1001 + Ahead) << 32));
        Assert.Equal(1001, EpochOf(Next(numbers)));
        Assert.Equal(1001, store.LoadEpoch());
    }

    [Fact]
    public void An_epoch_that_could_not_be_saved_is_saved_with_a_later_number()
    {
        var store = new FullStore();
        var numbers = Begin(store);
        long first = Next(numbers);
        Assert.Equal(0, store.Epoch);
        store.IsFull = false;
        Assert.Equal(first + 1, Next(numbers));
        Assert.Equal(EpochOf(first), store.Epoch);
    }

    [Fact]
    public void A_service_may_follow_another_if_its_store_says_so_or_cannot_be_read()
    {
        Assert.False(Begin().MayFollow);
        Assert.True(Begin(new FullStore { Epoch = 5 }).MayFollow);
        Assert.True(Begin(new FullStore { IsGone = true }).MayFollow);
    }

    private sealed class FullStore : IMembershipStore
    {
        public bool IsFull { get; set; } = true;

        public bool IsGone { get; set; }

        public long Epoch { get; set; }

        public bool IsHeld => true;

        public void Claim(long configuration, Action onClaimed) => onClaimed();

        public Task ReleaseAsync() => Task.CompletedTask;

        public long LoadEpoch() => IsGone ? throw new IOException("the disk is gone") : Epoch;

        public void SaveEpoch(long epoch) => Epoch = IsFull ? throw new IOException("the disk is full") : epoch;
    }
}
