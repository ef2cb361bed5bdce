namespace QuickSilver.Serialization;

/// <summary>
/// Declares a subtype of an abstract class, an abstract record or an interface, so that its values can be published: as a payload, as a
/// member of a <c>[DataContract]</c> type, and in its collections. A value is written as the number of its subtype and the subtype's own
/// message, which has the members that it inherits as well.
/// </summary>
/// <remarks>
/// Subtypes are <c>[DataContract]</c> types. A value whose type is not declared throws when it is published. A subtype may be added, with a
/// new number: readers without it cannot decode its messages, which are reported as gaps, and continue with the others.
/// </remarks>
/// <param name="number">
/// The number of the subtype: 1 to 536,870,911, except 19,000 to 19,999, unique within the type, and never changed.
/// </param>
/// <param name="type">The subtype.</param>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Interface, AllowMultiple = true, Inherited = false)]
public sealed class SubtypeAttribute(int number, Type type) : Attribute
{
    /// <summary>The number of the subtype.</summary>
    public int Number { get; } = number;

    /// <summary>The subtype.</summary>
    public Type Type { get; } = type;

    /// <summary>The name of the subtype, for display. Null: the name of the type.</summary>
    public string? Name { get; init; }
}
