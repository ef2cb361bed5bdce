using QuickSilver.Serialization;

namespace QuickSilver.Groups.Tools;

/// <summary>
/// The options of a member of a dictionary. They are read when it is opened, so a later change has no effect. For types that have no codec,
/// or another one than their own, use <see cref="DictionaryOptions{TKey, TValue}"/>.
/// </summary>
public class DictionaryOptions
{
    /// <summary>
    /// The maximum number of keys: 1 to 1,000,000; default 100,000. This member adds no key if there are as many. Members should have the
    /// same.
    /// </summary>
    public int MaxKeys { get; set; } = 100_000;

    /// <summary>
    /// The order of this member's changes: <see cref="GroupOrder.Total"/> (default) or <see cref="GroupOrder.Safe"/>. With <see
    /// cref="GroupOrder.Total"/>, a change that was made at its member alone is lost if this member fails at once. With <see
    /// cref="GroupOrder.Safe"/>, a change that one member has made is made by all that stay, and it waits for the slowest member.
    /// </summary>
    public GroupOrder Order { get; set; } = GroupOrder.Total;
}

/// <summary>The options of a member of a dictionary, with the codecs of its types.</summary>
/// <typeparam name="TKey">The type of the keys.</typeparam>
/// <typeparam name="TValue">The type of the values.</typeparam>
public sealed class DictionaryOptions<TKey, TValue> : DictionaryOptions
    where TKey : notnull
{
    /// <summary>The codec of keys. Null (default): the codec of the type, for bytes, string, or a <c>[DataContract]</c> type.</summary>
    public IPayloadCodec<TKey>? KeyCodec { get; set; }

    /// <summary>The codec of values. Null (default): the codec of the type, for bytes, string, or a <c>[DataContract]</c> type.</summary>
    public IPayloadCodec<TValue>? ValueCodec { get; set; }
}
