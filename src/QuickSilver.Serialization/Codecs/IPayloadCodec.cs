namespace QuickSilver.Serialization;

/// <summary>
/// Turns values into bytes and back. Stateless and thread-safe. For <c>[DataContract]</c> types the source generator
/// writes one at compile time; other types take one that is registered by hand.
/// </summary>
/// <typeparam name="T">The type it carries.</typeparam>
public interface IPayloadCodec<T>
{
    /// <summary>What the bytes mean, for matching endpoints at run time.</summary>
    PayloadSchema Schema { get; }

    /// <summary>The exact number of bytes that <see cref="Write"/> writes for this value.</summary>
    /// <exception cref="ArgumentNullException">The value is null.</exception>
    /// <exception cref="InvalidOperationException">The value cannot be written: nested too deep, or a null in a collection.</exception>
    /// <exception cref="OverflowException">The value takes more than 2 GiB, which no message may.</exception>
    int GetSize(in T value);

    /// <summary>
    /// No fewer bytes than <see cref="Write"/> writes for this value, for where asking costs less than room does. A codec that
    /// can tell without a walk over the value does; by default it is <see cref="GetSize"/>.
    /// </summary>
    int GetMaxSize(in T value) => GetSize(value);

    /// <summary>Writes the value at the start of <paramref name="destination"/>.</summary>
    /// <returns>The number of bytes written, which is what <see cref="GetSize"/> said.</returns>
    /// <exception cref="ArgumentException">The destination is too small.</exception>
    int Write(in T value, Span<byte> destination);

    /// <summary>Reads a value from exactly these bytes. What the value keeps of them is copied.</summary>
    /// <exception cref="PayloadFormatException">The bytes are not a value of this type.</exception>
    T Read(ReadOnlySpan<byte> source);

    /// <summary>As the other, to where the value shall be: spares a large struct a copy.</summary>
    /// <exception cref="PayloadFormatException">The bytes are not a value of this type.</exception>
    void Read(ReadOnlySpan<byte> source, out T value) => value = Read(source);
}
