namespace QuickSilver.Groups.Tools.WorkQueues;

// An item of a queue that is not done. It waits if it has no worker.
internal sealed class QueueItem(long id, NodeId origin, int maxAttempts, byte[] payload)
{
    public long Id => id;

    /// <summary>The member that has added it.</summary>
    public NodeId Origin => origin;

    public int MaxAttempts => maxAttempts;

    public byte[] Payload => payload;

    /// <summary>How often it was given to a member.</summary>
    public int Attempt { get; set; }

    /// <summary>The member that works on it.</summary>
    public NodeId? Worker { get; set; }

    /// <summary>The member that failed on it the last time, which another one is preferred to.</summary>
    public NodeId? FailedAt { get; set; }
}

// An item after its last attempt. The reason is UTF-8.
internal sealed record FailedEntry(long Id, NodeId Origin, int Attempts, byte[] Reason, byte[] Payload);

// An item was given to a member.
internal readonly record struct Assignment(NodeId Worker, long Id, int Attempt, int MaxAttempts, NodeId Origin, byte[] Payload);
