namespace QuickSilver;

/// <summary>
/// Declares the topic of a payload type: its name and its delivery guarantee. The topic is then opened without a name, as in
/// <c>node.OpenTopicAsync&lt;Order&gt;()</c>, and every endpoint of the type has the declared guarantee.
/// </summary>
/// <remarks>
/// Topics with other names may have the type, too, and then have its guarantee. Options and configuration with another guarantee are
/// refused when the topic is opened, and those in code are reported when it is compiled (QS0019). Derived types do not inherit the
/// declaration.
/// </remarks>
/// <param name="name">
/// The topic's name: 1 to 255 characters without control characters and wildcards. It is checked when the topic is opened, and reported
/// when the type is compiled (QS0020).
/// </param>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Struct | AttributeTargets.Interface, Inherited = false)]
public sealed class TopicAttribute(string name) : Attribute
{
    /// <summary>The topic's name.</summary>
    public string Name { get; } = name;

    /// <summary>The delivery guarantee, which is part of the topic's contract. Default: <see cref="Guarantee.Reliable"/>.</summary>
    public Guarantee Guarantee { get; init; } = Guarantee.Reliable;
}
