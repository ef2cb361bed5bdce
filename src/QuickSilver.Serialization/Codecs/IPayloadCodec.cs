namespace QuickSilver.Serialization;

/// <summary>
/// Converts values to bytes and back. Stateless and thread-safe. The source generator writes codecs for <c>[DataContract]</c> types at
/// compile time. Other types need a codec that is passed explicitly.
/// </summary>
/// <typeparam name="T">The type of the values.</typeparam>
public interface IPayloadCodec<T>
{
    /// <summary>The schema of the bytes, by which endpoints are matched at run time.</summary>
    PayloadSchema Schema { get; }

    /// <summary>Gets the exact number of bytes that <see cref="Write"/> writes for this value.</summary>
    /// <exception cref="ArgumentNullException">The value is null.</exception>
    /// <exception cref="InvalidOperationException">
    /// The value cannot be written: it nests too deep, or a collection contains null.
    /// </exception>
    /// <exception cref="OverflowException">The value takes more than 2 GiB, which is above the limit of a message.</exception>
    int GetSize(in T value);

    /// <summary>
    /// Gets an upper bound of the bytes that <see cref="Write"/> writes for this value, for callers to whom room is cheaper than the exact
    /// size. A codec that knows a bound without visiting the whole value overrides it. The default is <see cref="GetSize"/>.
    /// </summary>
    int GetMaxSize(in T value) => GetSize(value);

    /// <summary>Writes the value at the start of <paramref name="destination"/>.</summary>
    /// <returns>The number of bytes written, which must be equal to the result of <see cref="GetSize"/>.</returns>
    /// <exception cref="ArgumentException">The destination is too small.</exception>
    int Write(in T value, Span<byte> destination);

    /// <summary>Reads a value from exactly these bytes. The value must not refer to them.</summary>
    /// <exception cref="PayloadFormatException">The bytes are not a value of this type.</exception>
    T Read(ReadOnlySpan<byte> source);

    /// <summary>Reads a value into <paramref name="value"/>, which avoids a copy of a large struct.</summary>
    /// <exception cref="PayloadFormatException">The bytes are not a value of this type.</exception>
    void Read(ReadOnlySpan<byte> source, out T value) => value = Read(source);
}
