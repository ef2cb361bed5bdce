using System.Diagnostics.CodeAnalysis;

namespace QuickSilver.Groups.Tools;

/// <summary>
/// Keys and values, of which each member of a group has a copy. All members make all changes in one order, so a change can depend on what
/// the key has: it is added if it is absent, or updated if it still has the version that the caller has read. Reading is local.
/// Thread-safe.
/// </summary>
/// <remarks>
/// <para>
/// It differs from <see cref="IState{TKey, TValue}"/>, in which the last writer of a key wins: there a value is set at once on its own
/// node, two nodes that set a key at the same time do not learn of each other, and a divided network is merged key by key. Here a change
/// takes a round trip through the group, its result is the same at all members, and a part of a divided network that the membership service
/// removes loses what it has changed since.
/// </para>
/// <para>
/// Keys are the same if their codec writes the same bytes. The entries take at most 48 MiB together, each 48 bytes beside its key and its
/// value. If all members leave, the content is gone.
/// </para>
/// <para>
/// A call whose token is cancelled after it has begun may have made its change. The same is true if the dictionary is disposed meanwhile.
/// </para>
/// </remarks>
/// <typeparam name="TKey">The type of the keys.</typeparam>
/// <typeparam name="TValue">The type of the values. They are shared with all readers of this node, which must not change them.</typeparam>
public interface IReplicatedDictionary<TKey, TValue> : IAsyncDisposable
    where TKey : notnull
{
    /// <summary>The name of the group.</summary>
    string Name { get; }

    /// <summary>The number of entries at this member.</summary>
    int Count { get; }

    /// <summary>
    /// The number of entries that the codecs of this node cannot read, as those of a newer version of a type. They are absent from what is
    /// read here, and other members may have them.
    /// </summary>
    int Unreadable { get; }

    /// <summary>
    /// The value of a key, as this member has it now. After <see cref="SynchronizeAsync"/> it is not older than that call.
    /// </summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value.</param>
    bool TryGetValue(TKey key, [MaybeNullWhen(false)] out TValue value);

    /// <summary>The value of a key, with its version for <see cref="TryUpdateAsync"/>.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value.</param>
    /// <param name="version">The version, from 1; 0 if the key is absent.</param>
    bool TryGetValue(TKey key, [MaybeNullWhen(false)] out TValue value, out long version);

    /// <summary>All entries, in the order in which they were last changed. A copy.</summary>
    IReadOnlyList<DictionaryItem<TKey, TValue>> GetSnapshot();

    /// <summary>
    /// Sets the value of a key. Completes when the change is made at this member. It waits while 4,096 calls of this node wait already.
    /// </summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value.</param>
    /// <param name="cancellationToken">Ends the wait. The change may be made all the same.</param>
    /// <returns>The version of the entry. It is higher than that of all changes of the dictionary before.</returns>
    /// <exception cref="ArgumentNullException">The key or the value is null.</exception>
    /// <exception cref="GroupFullException">The dictionary has too many keys or bytes.</exception>
    /// <exception cref="MessageTooLargeException">The key and the value are too large for a message.</exception>
    /// <exception cref="GroupOutcomeUnknownException">This node was removed from the group and came back meanwhile.</exception>
    /// <exception cref="GroupHandlerException">The group has ended on this node because of an error.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    /// <exception cref="ObjectDisposedException">The dictionary or its node was disposed.</exception>
    /// <exception cref="OperationCanceledException">The token cancelled the call.</exception>
    ValueTask<long> SetAsync(TKey key, TValue value, CancellationToken cancellationToken = default);

    /// <summary>Sets the value of a key that is absent.</summary>
    /// <returns>Whether it was absent, and has the value now.</returns>
    /// <inheritdoc cref="SetAsync"/>
    ValueTask<bool> TryAddAsync(TKey key, TValue value, CancellationToken cancellationToken = default);

    /// <summary>Sets the value of a key that still has a version: compare and set.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value.</param>
    /// <param name="version">The version that it must have.</param>
    /// <param name="cancellationToken">Ends the wait. The change may be made all the same.</param>
    /// <returns>Whether it had the version, and has the value now.</returns>
    /// <inheritdoc cref="SetAsync"/>
    ValueTask<bool> TryUpdateAsync(TKey key, TValue value, long version, CancellationToken cancellationToken = default);

    /// <summary>Removes a key.</summary>
    /// <returns>Whether it was there.</returns>
    /// <inheritdoc cref="SetAsync"/>
    ValueTask<bool> RemoveAsync(TKey key, CancellationToken cancellationToken = default);

    /// <summary>
    /// Completes when this member has made all changes that any member had made before the call. So what is read after it is not older than
    /// the call (linearizable). It costs the round trip of a change.
    /// </summary>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="GroupOutcomeUnknownException">This node was removed from the group and came back meanwhile.</exception>
    /// <exception cref="GroupHandlerException">The group has ended on this node because of an error.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    /// <exception cref="ObjectDisposedException">The dictionary or its node was disposed.</exception>
    /// <exception cref="OperationCanceledException">The token cancelled the call.</exception>
    ValueTask SynchronizeAsync(CancellationToken cancellationToken = default);

    /// <summary>
    /// All entries, and then every change in the order of the group. If this member gets the state of another one because it was removed
    /// and came back, the differences come as changes.
    /// </summary>
    /// <remarks>
    /// The enumeration ends when the dictionary is disposed. At most 65,536 changes wait for it; if there are more, it fails, and the group
    /// does not wait.
    /// </remarks>
    /// <param name="cancellationToken">Cancels the enumeration.</param>
    /// <exception cref="GroupFullException">The enumeration was too slow.</exception>
    /// <exception cref="GroupHandlerException">The group has ended on this node because of an error.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    /// <exception cref="ObjectDisposedException">The dictionary was disposed before the call.</exception>
    /// <exception cref="OperationCanceledException">The token cancelled the enumeration.</exception>
    IAsyncEnumerable<DictionaryChange<TKey, TValue>> WatchChangesAsync(CancellationToken cancellationToken = default);
}

/// <summary>An entry of a dictionary.</summary>
/// <typeparam name="TKey">The type of the keys.</typeparam>
/// <typeparam name="TValue">The type of the values.</typeparam>
/// <param name="Key">The key.</param>
/// <param name="Value">The value.</param>
/// <param name="Version">The version, which rises with each change of the key.</param>
public readonly record struct DictionaryItem<TKey, TValue>(TKey Key, TValue Value, long Version);

/// <summary>A change of an entry of a dictionary.</summary>
/// <typeparam name="TKey">The type of the keys.</typeparam>
/// <typeparam name="TValue">The type of the values.</typeparam>
/// <param name="Key">The key.</param>
/// <param name="Value">The value. Undefined if the key was removed.</param>
/// <param name="IsRemoved">Whether the key was removed.</param>
/// <param name="Version">The version of the change.</param>
/// <param name="Origin">
/// The node that made the change. Null for entries that were there before the enumeration began or this member came back.
/// </param>
public readonly record struct DictionaryChange<TKey, TValue>(TKey Key, TValue? Value, bool IsRemoved, long Version, NodeId? Origin);
