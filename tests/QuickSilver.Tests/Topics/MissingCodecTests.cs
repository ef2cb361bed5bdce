using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests.Topics;

public sealed class MissingCodecTests
{
    private const string OrPass = "or pass an IPayloadCodec<T> (namespace QuickSilver.Serialization) as the Codec of TopicOptions<T>.";

    [Fact]
    public async Task A_type_of_ones_own_is_to_be_marked()
    {
        string said = await RefusalAsync<Unmarked>();
        Assert.StartsWith($"{typeof(Unmarked)} has no codec. Mark it with [DataContract]", said);
        Assert.EndsWith(OrPass, said);
    }

    [Fact]
    public async Task A_type_that_cannot_be_marked_is_to_be_wrapped()
    {
        string[] said =
        [
            await RefusalAsync<int>(), await RefusalAsync<DateTime>(), await RefusalAsync<List<Unmarked>>(),
            await RefusalAsync<Dictionary<string, int>>(), await RefusalAsync<Unmarked[]>(), await RefusalAsync<UnmarkedLevel>(),
            await RefusalAsync<IDisposable>(), await RefusalAsync<object>(), await RefusalAsync<UnmarkedLevel?>(),
        ];
        Assert.All(said, sentence => Assert.Contains("Wrap the value in a class or struct of your own", sentence));
        Assert.All(said, sentence => Assert.EndsWith(OrPass, sentence));
    }

    private static async Task<string> RefusalAsync<T>()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        return (await Assert.ThrowsAsync<NotSupportedException>(() => node.OpenTopicAsync<T>("t"))).Message;
    }

    private sealed class Unmarked;

    private enum UnmarkedLevel;
}
