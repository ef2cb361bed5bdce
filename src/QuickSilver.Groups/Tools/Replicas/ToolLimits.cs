namespace QuickSilver.Groups.Tools.Replicas;

internal static class ToolLimits
{
    /// <summary>The maximum number of calls of one node that wait for their answer. Each holds a task and a message.</summary>
    public const int MostPending = 4096;
}
