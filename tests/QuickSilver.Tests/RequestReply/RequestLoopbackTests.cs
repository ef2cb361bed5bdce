using QuickSilver.Tests.Endpoints;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.RequestReply;

// Requests over real sockets.
[Collection(nameof(AllocationTests))]
public sealed class RequestLoopbackTests
{
    // The object that waits, and the task of its caller.
    private const int BytesOfARequest = 300;

    [Fact]
    public async Task A_request_allocates_no_more_than_what_waits_for_its_answer()
    {
        await using var node = await StartAsync();
        await using var responder = await node.OpenResponderAsync<string, string>(
            "echo", static (request, _) => new(request.Value)).OrFail();
        await using var requester = await node.OpenRequesterAsync<string, string>("echo").OrFail();
        for (int i = 0; i < 1000; i++)
        {
            await requester.AskAsync("x");
        }

        long least = long.MaxValue;
        for (int i = 0; i < 100; i++)
        {
            long before = GC.GetAllocatedBytesForCurrentThread();
            var asked = requester.AskAsync("x");
            least = Math.Min(least, GC.GetAllocatedBytesForCurrentThread() - before);
            Assert.Equal("x", await asked.OrFail());
        }

        Assert.InRange(least, 1, BytesOfARequest);
    }

    [Fact]
    public async Task Many_callers_get_each_their_own_answer_and_large_ones_arrive()
    {
        await using var first = await StartAsync();
        await using var responder = await first.OpenResponderAsync<string, string>(
            "repeat",
            static async (request, _) =>
            {
                await Task.Yield();
                return new string(request.Value[0], int.Parse(request.Value[1..], System.Globalization.CultureInfo.InvariantCulture));
            }).OrFail();
        await using var requester = await first.OpenRequesterAsync<string, string>("repeat").OrFail();
        await requester.WaitForRespondersAsync(1).OrFail();
        var asked = Enumerable.Range(0, 500).Select(i => requester.AskAsync($"{(char)('a' + (i % 26))}{i}")).ToList();
        string[] answers = await Task.WhenAll(asked).OrFail();
        Assert.All(Enumerable.Range(0, 500), i => Assert.Equal(new string((char)('a' + (i % 26)), i), answers[i]));
        Assert.Equal(3_000_000, (await requester.AskAsync("z3000000").OrFail()).Length);
        var tooLarge = await Assert.ThrowsAsync<ResponderFailedException>(() => requester.AskAsync("z17000000")).OrFail();
        Assert.Contains("17,000,0", tooLarge.Error, StringComparison.Ordinal);
    }

    private static async Task<QuickSilverNode> StartAsync() =>
        await QuickSilverNode.StartAsync(new QuickSilverOptions { Cluster = $"requests-{Guid.NewGuid():N}" }).OrFail();
}
