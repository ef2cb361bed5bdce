using QuickSilver.Groups.Tools.Barriers;
using QuickSilver.Groups.Tools.Dictionaries;
using QuickSilver.Groups.Tools.Leaders;
using QuickSilver.Groups.Tools.Locks;
using QuickSilver.Groups.Tools.Replicas;
using QuickSilver.Groups.Tools.WorkQueues;
using QuickSilver.Inboxes;
using QuickSilver.Serialization;

namespace QuickSilver.Groups.Tools;

/// <summary>
/// Opens the tools of process groups on a node: each is a group whose members have a copy of a small state, and change it in one order.
/// </summary>
public static class GroupTools
{
    /// <summary>
    /// Opens a dictionary of which all members have a copy, and creates it if no other node has it open. Completes when this member has all
    /// entries. A node has a dictionary open once at a time. The name is that of a topic, so no other topic may have it.
    /// </summary>
    /// <typeparam name="TKey">The type of the keys. All members have the same.</typeparam>
    /// <typeparam name="TValue">The type of the values. All members have the same.</typeparam>
    /// <param name="node">The node.</param>
    /// <param name="name">The name of the group: 1 to 255 characters, without control characters and wildcards.</param>
    /// <param name="options">The options. Null: the defaults.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="ArgumentException">The name is none, or the options have the codec of another type.</exception>
    /// <exception cref="QuickSilverOptionsException">An option is invalid.</exception>
    /// <exception cref="NotSupportedException">A type has no codec, and the options have none.</exception>
    /// <exception cref="InvalidOperationException">This node is in the group already.</exception>
    /// <exception cref="ContractMismatchException">The topic of that name is open elsewhere and is no such dictionary.</exception>
    /// <exception cref="GroupHandlerException">The state of the other members is of another version.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    /// <exception cref="ObjectDisposedException">The node was disposed.</exception>
    /// <exception cref="OperationCanceledException">The token cancelled the call.</exception>
    public static async Task<IReplicatedDictionary<TKey, TValue>> OpenDictionaryAsync<TKey, TValue>(
        this QuickSilverNode node, string name, DictionaryOptions? options = null, CancellationToken cancellationToken = default)
        where TKey : notnull
    {
        ArgumentNullException.ThrowIfNull(node);
        options ??= new DictionaryOptions();
        var failures = new List<string>();
        OptionFailures.Within(failures, nameof(DictionaryOptions.MaxKeys), options.MaxKeys, 1, DictionaryMachine.MostKeys);
        OptionFailures.OneOf(failures, nameof(DictionaryOptions.Order), options.Order, GroupOrder.Total, GroupOrder.Safe);
        OptionFailures.ThrowIfAny(failures);
        CodecOptions.Check(options, typeof(DictionaryOptions<,>), typeof(TKey), typeof(TValue));
        var typed = options as DictionaryOptions<TKey, TValue>;
        var keys = typed?.KeyCodec ?? QuickSilverNode.CodecOf<TKey>();
        var values = typed?.ValueCodec ?? QuickSilverNode.CodecOf<TValue>();
        var host = new NodeHost(node);
        var dictionary = new ReplicatedDictionary<TKey, TValue>(name, node.Id, host, (keys, values), options.MaxKeys, options.Order);
        var schema = JoinedSchema.Of(PayloadSchema.MessageKind, ("key", keys.Schema), ("value", values.Schema));
        await ToolOpening.OpenAsync(node, dictionary, "dictionary", schema, cancellationToken).ConfigureAwait(node.ResumesInContext);
        return dictionary;
    }

    /// <summary>
    /// Opens a lock that one caller among all members holds at a time, and creates it if no other node has it open. A node has a lock open
    /// once at a time. The name is that of a topic, so no other topic may have it.
    /// </summary>
    /// <param name="node">The node.</param>
    /// <param name="name">The name of the group: 1 to 255 characters, without control characters and wildcards.</param>
    /// <param name="options">The options. Null: the defaults.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="ArgumentException">The name is none.</exception>
    /// <exception cref="NotSupportedException">
    /// Nodes host the membership service, and <see cref="LockOptions.AllowHostedService"/> is not set.
    /// </exception>
    /// <exception cref="ContractMismatchException">The topic of that name is open elsewhere and is no lock.</exception>
    /// <exception cref="InvalidOperationException">This node is in the group already.</exception>
    /// <exception cref="GroupHandlerException">The state of the other members is of another version.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    /// <exception cref="ObjectDisposedException">The node was disposed.</exception>
    /// <exception cref="OperationCanceledException">The token cancelled the call.</exception>
    public static async Task<IDistributedLock> OpenLockAsync(
        this QuickSilverNode node, string name, LockOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(node);
        ToolOpening.CheckService(
            node, $"The lock \"{name}\"", "each would grant it", nameof(LockOptions), options?.AllowHostedService ?? false);
        var opened = new DistributedLock(name, node.Id, new NodeHost(node));
        await ToolOpening.OpenAsync(node, opened, "lock", ToolOpening.NoPayload, cancellationToken).ConfigureAwait(node.ResumesInContext);
        return opened;
    }

    /// <summary>
    /// Becomes a candidate for the leadership of a group: its oldest member leads. A node is a candidate once at a time. The name is that
    /// of a topic, so no other topic may have it.
    /// </summary>
    /// <param name="node">The node.</param>
    /// <param name="name">The name of the group: 1 to 255 characters, without control characters and wildcards.</param>
    /// <param name="options">The options. Null: the defaults.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="ArgumentException">The name is none.</exception>
    /// <exception cref="NotSupportedException">
    /// Nodes host the membership service, and <see cref="LeaderOptions.AllowHostedService"/> is not set.
    /// </exception>
    /// <exception cref="ContractMismatchException">The topic of that name is open elsewhere and has no leader.</exception>
    /// <exception cref="InvalidOperationException">This node is in the group already.</exception>
    /// <exception cref="GroupHandlerException">The state of the other members is of another version.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    /// <exception cref="ObjectDisposedException">The node was disposed.</exception>
    /// <exception cref="OperationCanceledException">The token cancelled the call.</exception>
    public static async Task<ILeaderLease> OpenLeaderAsync(
        this QuickSilverNode node, string name, LeaderOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(node);
        ToolOpening.CheckService(
            node, $"The leadership \"{name}\"", "each would have a leader", nameof(LeaderOptions), options?.AllowHostedService ?? false);
        var opened = new LeaderLease(name, node.Id, new NodeHost(node));
        await ToolOpening.OpenAsync(node, opened, "leader", ToolOpening.NoPayload, cancellationToken).ConfigureAwait(node.ResumesInContext);
        return opened;
    }

    /// <summary>
    /// Opens a barrier at which members wait for each other. A node has a barrier open once at a time. The name is that of a topic, so no
    /// other topic may have it.
    /// </summary>
    /// <param name="node">The node.</param>
    /// <param name="name">The name of the group: 1 to 255 characters, without control characters and wildcards.</param>
    /// <param name="parties">The number of members that a round needs: 1 to 10,000. All members have the same.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="ArgumentException">The name is none, or the number of parties is out of range.</exception>
    /// <exception cref="InvalidOperationException">This node is in the group already.</exception>
    /// <exception cref="ContractMismatchException">The topic of that name is open elsewhere and is no barrier.</exception>
    /// <exception cref="GroupHandlerException">The state of the other members is of another version.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    /// <exception cref="ObjectDisposedException">The node was disposed.</exception>
    /// <exception cref="OperationCanceledException">The token cancelled the call.</exception>
    public static async Task<IGroupBarrier> OpenBarrierAsync(
        this QuickSilverNode node, string name, int parties, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(node);
        ArgumentOutOfRangeException.ThrowIfLessThan(parties, 1);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(parties, BarrierMachine.MostParties);
        var opened = new GroupBarrier(name, parties, node.Id, new NodeHost(node));
        await ToolOpening.OpenAsync(node, opened, "barrier", ToolOpening.NoPayload, cancellationToken)
            .ConfigureAwait(node.ResumesInContext);
        return opened;
    }

    /// <summary>
    /// Opens a queue whose items are worked on by its members, and creates it if no other node has it open. A node has a queue open once at
    /// a time. The name is that of a topic, so no other topic may have it.
    /// </summary>
    /// <typeparam name="TItem">The type of the items. All members have the same.</typeparam>
    /// <param name="node">The node.</param>
    /// <param name="name">The name of the group: 1 to 255 characters, without control characters and wildcards.</param>
    /// <param name="work">
    /// Works on an item, which is done when it returns. It is called on the thread pool, for at most <see
    /// cref="WorkQueueOptions.Concurrency"/> items at once. Its token is cancelled when the item is given to another member, because this
    /// one was removed or has ended. Null: this member only adds items.
    /// </param>
    /// <param name="options">The options. Null: the defaults.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="ArgumentException">The name is none, or the options are those of another type.</exception>
    /// <exception cref="QuickSilverOptionsException">An option is invalid.</exception>
    /// <exception cref="NotSupportedException">The type has no codec, and the options have none.</exception>
    /// <exception cref="InvalidOperationException">This node is in the group already.</exception>
    /// <exception cref="ContractMismatchException">The topic of that name is open elsewhere and is no such queue.</exception>
    /// <exception cref="GroupHandlerException">The state of the other members is of another version.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    /// <exception cref="ObjectDisposedException">The node was disposed.</exception>
    /// <exception cref="OperationCanceledException">The token cancelled the call.</exception>
    public static async Task<IWorkQueue<TItem>> OpenWorkQueueAsync<TItem>(
        this QuickSilverNode node,
        string name,
        Func<WorkItem<TItem>, CancellationToken, ValueTask>? work = null,
        WorkQueueOptions? options = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(node);
        options ??= new WorkQueueOptions();
        var failures = new List<string>();
        OptionFailures.Within(failures, nameof(WorkQueueOptions.Concurrency), options.Concurrency, 1, WorkerTable.MostConcurrency);
        OptionFailures.Within(failures, nameof(WorkQueueOptions.MaxAttempts), options.MaxAttempts, 1, WorkQueueMachine.MostAttempts);
        OptionFailures.Within(failures, nameof(WorkQueueOptions.Capacity), options.Capacity, 1, WorkQueueMachine.MostItems);
        OptionFailures.ThrowIfAny(failures);
        CodecOptions.Check(options, typeof(WorkQueueOptions<>), typeof(TItem));
        var typed = options as WorkQueueOptions<TItem>;
        var codec = typed?.Codec ?? QuickSilverNode.CodecOf<TItem>();
        var limits = new WorkLimits(options.Concurrency, options.MaxAttempts, options.Capacity);
        var opened = new WorkQueue<TItem>(name, node.Id, new NodeHost(node), (work, limits), codec, typed?.OnFailed);
        var schema = JoinedSchema.Of(PayloadSchema.MessageKind, ("item", codec.Schema));
        await ToolOpening.OpenAsync(node, opened, "queue", schema, cancellationToken).ConfigureAwait(node.ResumesInContext);
        return opened;
    }
}
