namespace QuickSilver.Tests.Infrastructure;

// A test that would hang fails instead; the limit is far above anything that is judged.
internal static class Patience
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(20);

    public static Task OrFail(this Task task) => task.WaitAsync(Limit, TestContext.Current.CancellationToken);

    public static Task<T> OrFail<T>(this Task<T> task) => task.WaitAsync(Limit, TestContext.Current.CancellationToken);

    public static Task OrFail(this ValueTask task) => task.AsTask().WaitAsync(Limit, TestContext.Current.CancellationToken);

    public static Task<T> OrFail<T>(this ValueTask<T> task) => task.AsTask().WaitAsync(Limit, TestContext.Current.CancellationToken);

    public static async Task Until(Func<bool> condition)
    {
        for (int i = 0; i < 2000 && !condition(); i++)
        {
            await Task.Delay(10, TestContext.Current.CancellationToken);
        }

        Assert.True(condition());
    }
}
