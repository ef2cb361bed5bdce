namespace QuickSilver.Core.Tests.Infrastructure;

// How long a test waits for what must come. Only a test that fails ever waits so long.
internal static class Patience
{
    public static readonly TimeSpan Limit = TimeSpan.FromSeconds(20);

    public static void Until(Func<bool> condition, string what) =>
        Assert.True(SpinWait.SpinUntil(condition, Limit), $"Waited in vain: {what}.");

    // For what must not come: gives it a moment to come wrongly. Slowness can only hide a fault here, not make one up.
    public static void Not(Task task, string what) => Assert.False(task.Wait(TimeSpan.FromMilliseconds(20)), $"Came wrongly: {what}.");

    public static T Result<T>(Task<T> task, string what)
    {
        Assert.True(task.Wait(Limit), $"Waited in vain: {what}.");
        return task.Result;
    }
}
