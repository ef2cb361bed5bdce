using QuickSilver.Serialization;

namespace QuickSilver;

/// <summary>
/// The options of a state. All nodes should have the same. A state takes a copy when it is opened, so a later change has no effect.
/// </summary>
public class StateOptions
{
    /// <summary>Initializes the options with the defaults.</summary>
    public StateOptions()
    {
    }

    private protected StateOptions(StateOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        MaxKeys = options.MaxKeys;
    }

    /// <summary>
    /// The maximum number of keys: 1 to 1,000,000; default 100,000. <see cref="IState{TKey, TValue}.SetAsync"/> refuses a new key when
    /// there are as many. Nodes that do so at the same time may exceed it. At a node that has twice as many, the state ends with <see
    /// cref="StateFullException"/>, rather than to differ from the others. As many removed keys are remembered.
    /// </summary>
    public int MaxKeys { get; set; } = 100_000;

    /// <summary>A copy, with the codecs if this has any.</summary>
    internal StateOptions Copy() => (StateOptions)MemberwiseClone();
}

/// <summary>The options of a state, with the codecs of its types. The state takes a copy when it is opened.</summary>
/// <typeparam name="TKey">The type of the keys.</typeparam>
/// <typeparam name="TValue">The type of the values.</typeparam>
public sealed class StateOptions<TKey, TValue> : StateOptions
    where TKey : notnull
{
    /// <summary>Initializes the options with the defaults.</summary>
    public StateOptions()
    {
    }

    /// <summary>Initializes the options with others.</summary>
    /// <param name="options">The options that are copied.</param>
    public StateOptions(StateOptions options)
        : base(options)
    {
    }

    /// <summary>The codec of keys. Null (default): the codec of the type, for bytes, string, or a <c>[DataContract]</c> type.</summary>
    public IPayloadCodec<TKey>? KeyCodec { get; set; }

    /// <summary>The codec of values. Null (default): the codec of the type, for bytes, string, or a <c>[DataContract]</c> type.</summary>
    public IPayloadCodec<TValue>? ValueCodec { get; set; }
}
