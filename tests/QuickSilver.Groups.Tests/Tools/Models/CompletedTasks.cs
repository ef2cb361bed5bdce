namespace QuickSilver.Groups.Tests.Tools.Models;

// Everything in a model group happens on the calling thread, so a task is complete when it should be, or never.
internal static class CompletedTasks
{
    /// <summary>The result of a task that is complete; throws why it failed.</summary>
    public static T Now<T>(this Task<T> task)
    {
        Assert.True(task.IsCompleted, "The call is not complete.");
        return task.GetAwaiter().GetResult();
    }

    public static void Now(this Task task)
    {
        Assert.True(task.IsCompleted, "The call is not complete.");
        task.GetAwaiter().GetResult();
    }
}
