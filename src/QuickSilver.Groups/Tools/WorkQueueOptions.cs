using QuickSilver.Serialization;

namespace QuickSilver.Groups.Tools;

/// <summary>
/// The options of a member of a work queue. They are read when it is opened, so a later change has no effect. For a type that has no codec,
/// or another one than its own, use <see cref="WorkQueueOptions{TItem}"/>.
/// </summary>
public class WorkQueueOptions
{
    /// <summary>
    /// The maximum number of items that this member works on at once: 1 to 1,024; default 1. It has no effect without a function.
    /// </summary>
    public int Concurrency { get; set; } = 1;

    /// <summary>How often an item that this member adds is given to a member at most: 1 to 1,000; default 5.</summary>
    public int MaxAttempts { get; set; } = 5;

    /// <summary>
    /// The maximum number of items that are not done: 1 to 100,000; default 10,000. This member adds none if there are as many. Members
    /// should have the same.
    /// </summary>
    public int Capacity { get; set; } = 10_000;
}

/// <summary>The options of a member of a work queue, with what depends on the type of the items.</summary>
/// <typeparam name="TItem">The type of the items.</typeparam>
public sealed class WorkQueueOptions<TItem> : WorkQueueOptions
{
    /// <summary>The codec. Null (default): the codec of the type, for bytes, string, or a <c>[DataContract]</c> type.</summary>
    public IPayloadCodec<TItem>? Codec { get; set; }

    /// <summary>
    /// Called for each item whose attempts are used up, at each member that has set it, on the thread pool. What it throws is ignored.
    /// Null (default): nothing is called, and <see cref="IWorkQueue{TItem}.GetFailed"/> has the items.
    /// </summary>
    public Action<FailedItem<TItem>>? OnFailed { get; set; }
}
