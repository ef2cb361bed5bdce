using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Membership.Service.Stores;
using QuickSilver.Membership.Service.Takeover;

namespace QuickSilver.Membership.Tests.Service.Stores;

// What each store grants: one server holds it at a time, and the numbers that are claimed of it only ever grow. I7, I9.
public abstract class MembershipStoreContract
{
    // In which a claim that was not refused would be answered.
    private static readonly TimeSpan Unanswered = TimeSpan.FromMilliseconds(300);
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(30);

    /// <summary>A server's hold on the store of this test; null: another server has it.</summary>
    private protected abstract Task<IMembershipStore?> TryAcquireAsync(string server);

    /// <summary>As a server does that leads: where a hold ends with time, it does not until it is given up.</summary>
    private protected virtual void Keep(IMembershipStore store)
    {
    }

    [Fact]
    public async Task A_second_server_cannot_hold_what_a_server_holds()
    {
        var first = await AcquireAsync("first");
        Assert.Null(await TryAcquireAsync("second"));
        Assert.True(first.IsHeld);
        Assert.True(await IsClaimedAsync(first, Number(1, 1)));
        await first.ReleaseAsync();
    }

    [Fact]
    public async Task A_lease_that_is_given_up_passes_on_at_once()
    {
        var first = await AcquireAsync("first");
        await first.ReleaseAsync();
        Assert.False(first.IsHeld);
        var second = await AcquireAsync("second");
        Assert.True(second.IsHeld);
        await second.ReleaseAsync();
    }

    [Fact]
    public async Task A_claim_after_the_lease_has_ended_is_never_answered()
    {
        var first = await AcquireAsync("first");
        await first.ReleaseAsync();
        Assert.False(await IsClaimedAsync(first, Number(1, 1)));
        var second = await AcquireAsync("second");
        Assert.False(await IsClaimedAsync(first, Number(1, 2)));
        Assert.Equal(0, second.LoadEpoch());
        await second.ReleaseAsync();
    }

    [Fact]
    public async Task A_server_that_gives_up_twice_takes_nothing_from_the_next()
    {
        var first = await AcquireAsync("first");
        await first.ReleaseAsync();
        var second = await AcquireAsync("second");
        await first.ReleaseAsync();
        Assert.Null(await TryAcquireAsync("third"));
        Assert.True(await IsClaimedAsync(second, Number(1, 1)));
        await second.ReleaseAsync();
    }

    // A lease ends with time or does not: either it still holds, or it can claim nothing.
    [Fact]
    public async Task A_server_that_stood_still_claims_nothing_once_another_one_leads()
    {
        var still = await AcquireAsync("still", isKept: false);
        Save(still, 3);
        Assert.True(await IsClaimedAsync(still, Number(3, 1)));
        long begun = Environment.TickCount64;
        IMembershipStore? next = null;
        while (still.IsHeld && Environment.TickCount64 - begun < 4000)
        {
            await Task.Delay(50);
        }

        while (!still.IsHeld && (next = await TryAcquireAsync("next")) is null)
        {
            Assert.True(Environment.TickCount64 - begun < Limit.TotalMilliseconds, "the lease does not end");
            await Task.Delay(50);
        }

        Assert.Equal(next is null, await IsClaimedAsync(still, Number(3, 2)));
        if (next is not null)
        {
            Keep(next);
            Assert.Equal(3, next.LoadEpoch());
            Save(next, 4);
            Assert.True(await IsClaimedAsync(next, Number(4, 1)));
            Assert.False(await IsClaimedAsync(still, Number(3, 3)));
            await still.ReleaseAsync();
            Assert.True(await IsClaimedAsync(next, Number(4, 2)));
            await next.ReleaseAsync();
        }

        await still.ReleaseAsync();
    }

    [Fact]
    public async Task The_epoch_outlives_the_server_that_saved_it()
    {
        var first = await AcquireAsync("first");
        Assert.Equal(0, first.LoadEpoch());
        foreach (long epoch in new long[] { 12, 13 })
        {
            Save(first, epoch);
            Assert.True(await IsClaimedAsync(first, Number(epoch, 1)));
        }

        await first.ReleaseAsync();
        var second = await AcquireAsync("second");
        Assert.Equal(13, second.LoadEpoch());
        await second.ReleaseAsync();
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public async Task Over_all_terms_numbers_never_repeat_and_never_go_back(int seed)
    {
        var random = new Random(seed);
        IMembershipStore? holder = null;
        ConfigurationNumbers? numbers = null;
        var former = new List<ConfigurationNumbers>();
        long last = 0;
        long wrong = 0;
        for (int step = 0; step < 60; step++)
        {
            switch (random.Next(5))
            {
                case 0:
                    var got = await TryAcquireAsync($"server {step}");
                    Assert.Equal(holder is null, got is not null);
                    if (got is not null)
                    {
                        Keep(got);
                        numbers = new ConfigurationNumbers(holder = got, NullLogger.Instance, life: (ulong)random.Next());
                        numbers.Load();
                    }

                    break;
                case 1 when holder is not null:
                    await holder.ReleaseAsync();
                    former.Add(numbers!);
                    holder = null;
                    break;
                case 2 when former.Count > 0:
                    former[random.Next(former.Count)].Claim(number => Interlocked.Exchange(ref wrong, number));
                    break;
                default:
                    if (holder is not null)
                    {
                        var claimed = new TaskCompletionSource<long>(TaskCreationOptions.RunContinuationsAsynchronously);
                        numbers!.Claim(claimed.SetResult);
                        long number = await claimed.Task.WaitAsync(Limit);
                        Assert.True(number > last, $"{number} came after {last}");
                        last = number;
                    }

                    break;
            }
        }

        await Task.Delay(Unanswered);
        Assert.Equal(0, Interlocked.Read(ref wrong));
        await (holder?.ReleaseAsync() ?? Task.CompletedTask);
    }

    private static long Number(long epoch, long step) => (epoch << 32) | step;

    private static void Save(IMembershipStore store, long epoch) => store.SaveEpoch(epoch);

    private static async Task<bool> IsClaimedAsync(IMembershipStore store, long number)
    {
        var claimed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        store.Claim(number, claimed.SetResult);
        return await Task.WhenAny(claimed.Task, Task.Delay(store.IsHeld ? Limit : Unanswered)) == claimed.Task;
    }

    private async Task<IMembershipStore> AcquireAsync(string server, bool isKept = true)
    {
        var store = await TryAcquireAsync(server);
        Assert.NotNull(store);
        if (isKept)
        {
            Keep(store);
        }

        return store;
    }
}
