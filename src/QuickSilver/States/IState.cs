using System.Diagnostics.CodeAnalysis;
using QuickSilver.Core.Diagnostics;

namespace QuickSilver;

/// <summary>
/// The last value of each key, which all nodes that have the state open hold in memory. Reading is local. A node that opens it later gets
/// what the others have, and then every change. Thread-safe.
/// </summary>
/// <remarks>
/// <para>
/// Each change has a number, above all numbers that its node has seen in the state, and the id of its node. For each key, the change with
/// the highest number is kept, and of two with the same number that of the node with the higher id, at every node. So a value that is set
/// after another was seen replaces it, and of two that were set without knowing of each other, all nodes keep the same one.
/// </para>
/// <para>
/// What a node has set is lost with it if it fails before any other node has received it. A removal is remembered for ten minutes, so a
/// change that comes later than that from a part of the cluster that was cut off can bring a removed key back.
/// </para>
/// </remarks>
/// <typeparam name="TKey">The type of the keys. Two keys that are equal are one.</typeparam>
/// <typeparam name="TValue">The type of the values. They are shared with all readers of this node, which must not change them.</typeparam>
public interface IState<TKey, TValue> : IAsyncDisposable
    where TKey : notnull
{
    /// <summary>The name, which all nodes that hold the state have in common.</summary>
    string Name { get; }

    /// <summary>The number of keys that have a value.</summary>
    int Count { get; }

    /// <summary>
    /// Whether this node has all that any other has, apart from what is on its way. False for a moment when messages were lost, or when
    /// nodes from another part of the cluster are back; then it gets what it lacks from another node. False as long as another node has a
    /// value that this one cannot decode, or this process has no memory for; the node's status says so.
    /// </summary>
    bool IsComplete { get; }

    /// <summary>The value of a key, as this node has it now.</summary>
    bool TryGet(TKey key, [MaybeNullWhen(false)] out TValue value);

    /// <summary>All keys with their values, in the order in which they were set. A copy.</summary>
    IReadOnlyList<KeyValuePair<TKey, TValue>> GetSnapshot();

    /// <summary>
    /// Sets the value of a key: on this node at once, and on the others when they receive it. Completes when the change is accepted for
    /// sending: at once, unless the queue of this node is full. A change that is not accepted is taken back on this node, also where a
    /// codec throws.
    /// </summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value. It must not be changed afterwards.</param>
    /// <param name="cancellationToken">Ends the wait for room. The change is made all the same.</param>
    /// <exception cref="StateFullException">The key is new, and there are <see cref="StateOptions.MaxKeys"/> already.</exception>
    /// <exception cref="ArgumentNullException">The key or the value is null.</exception>
    /// <exception cref="MessageTooLargeException">The key and the value are too large for a message.</exception>
    /// <exception cref="OperationCanceledException">The token cancelled the wait.</exception>
    /// <exception cref="ObjectDisposedException">The state or its node was disposed.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    ValueTask SetAsync(TKey key, TValue value, CancellationToken cancellationToken = default);

    /// <summary>Removes a key, as <see cref="SetAsync"/> sets it. Does nothing if this node has no value for it.</summary>
    /// <returns>Whether there was a value.</returns>
    /// <inheritdoc cref="SetAsync"/>
    ValueTask<bool> RemoveAsync(TKey key, CancellationToken cancellationToken = default);

    /// <summary>
    /// The values of all keys that have one, and then every change, own ones included. An enumeration that is slow skips values that were
    /// replaced meanwhile and gets the last one of each key: what waits for it is limited by the number of keys.
    /// </summary>
    /// <exception cref="ObjectDisposedException">The state was disposed before the call.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    /// <exception cref="StateFullException">The state has ended, because other nodes set too many keys.</exception>
    /// <exception cref="OperationCanceledException">The token cancelled the enumeration.</exception>
    IAsyncEnumerable<StateChange<TKey, TValue>> WatchChangesAsync(CancellationToken cancellationToken = default);
}

/// <summary>A change of a key.</summary>
/// <typeparam name="TKey">The type of the keys.</typeparam>
/// <typeparam name="TValue">The type of the values.</typeparam>
/// <param name="Key">The key.</param>
/// <param name="Value">The value. Undefined if the key was removed.</param>
/// <param name="IsRemoved">Whether the key was removed.</param>
/// <param name="Origin">The node that set or removed it.</param>
public readonly record struct StateChange<TKey, TValue>(TKey Key, TValue? Value, bool IsRemoved, NodeId Origin);

/// <summary>A state has as many keys as are allowed.</summary>
public sealed class StateFullException : QuickSilverException
{
    internal StateFullException(string name, int keys, bool isEnded)
        : base($"The state \"{name}\" has {Counted.Of(keys, "key")}, "
            + (isEnded ? "twice as many as are allowed here, and is closed on this node. " : "the limit. The new key was not set. ")
            + $"Remove keys, or raise {nameof(StateOptions)}.{nameof(StateOptions.MaxKeys)} on all nodes.")
    {
        Name = name;
        Keys = keys;
        IsClosed = isEnded;
    }

    /// <summary>The name of the state.</summary>
    public string Name { get; }

    /// <summary>The number of keys.</summary>
    public int Keys { get; }

    /// <summary>
    /// Whether the state has ended on this node, because other nodes set twice as many keys as are allowed here. False: a new key was not
    /// set.
    /// </summary>
    public bool IsClosed { get; }
}
