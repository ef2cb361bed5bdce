using System.ComponentModel;

namespace QuickSilver.Serialization.Generated;

/// <summary>What the codec of a type with subtypes throws.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public static class Subtypes
{
    /// <summary>The value to be written is of a type that is not declared.</summary>
    public static Exception Undeclared<T>(object value) => new NotSupportedException(
        $"{value.GetType()} is not a declared subtype of {typeof(T)}. Declare it there with [Subtype(n, typeof({value.GetType().Name}))] "
        + "and a number of its own, which never changes.");

    /// <summary>The payload has none of the subtypes that are declared here.</summary>
    public static Exception Unknown<T>() => new PayloadFormatException(
        $"The payload contains a subtype of {typeof(T)} that this program does not declare, or none. If a newer version of the program "
        + "declares it, upgrade the readers before its publishers.");
}
