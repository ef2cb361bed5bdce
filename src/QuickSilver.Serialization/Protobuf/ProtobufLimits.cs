using System.ComponentModel;
using System.Diagnostics.CodeAnalysis;

namespace QuickSilver.Serialization.Protobuf;

/// <summary>The bounds that every codec keeps, and what is thrown at them.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public static class ProtobufLimits
{
    /// <summary>
    /// How deep messages may nest. Google.Protobuf's own limit, so that what one reads the other reads; 100 levels of a
    /// generated codec fit any thread's stack many times over.
    /// </summary>
    public const int MaxDepth = 100;

    /// <summary>
    /// How deep messages that come in several parts may nest within each other (<see cref="MessageParts"/>). The parts are copied at each
    /// level, so this bounds the memory that a payload takes to a multiple of its size.
    /// </summary>
    public const int MaxJoins = 8;

    /// <summary>Refuses a value that nests deeper than a reader would follow: most likely it contains itself.</summary>
    /// <exception cref="InvalidOperationException">The depth is beyond <see cref="MaxDepth"/>.</exception>
    public static void CheckDepth(int depth)
    {
        if (depth > MaxDepth)
        {
            ThrowTooDeep();
        }
    }

    /// <summary>Refuses a null among a collection's elements, which protobuf has no way to write.</summary>
    /// <param name="member">The collection, as "Type.Member".</param>
    /// <exception cref="InvalidOperationException">Always.</exception>
    [DoesNotReturn]
    public static void ThrowNullElement(string member) =>
        throw new InvalidOperationException($"{member} contains null, which a collection cannot contain on the wire. Remove the element.");

    [DoesNotReturn]
    private static void ThrowTooDeep() =>
        throw new InvalidOperationException(
            $"The value nests messages more than {MaxDepth} deep, which is the limit. It contains itself, or is a long chain such as a "
            + "linked list. Send the items of a chain in a List<T>, with indexes as references.");
}
