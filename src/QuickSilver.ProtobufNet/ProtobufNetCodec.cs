using System.Diagnostics.CodeAnalysis;
using ProtoBuf;
using QuickSilver.Serialization;

namespace QuickSilver.ProtobufNet;

/// <summary>
/// A codec for types that are already annotated for protobuf-net. It reads the same <c>[DataContract]</c> attributes as QuickSilver's
/// generated codecs and exchanges the same messages with them. It uses reflection and emitted code, so it allocates, and does not support
/// trimming or ahead-of-time compilation.
/// </summary>
/// <typeparam name="T">A type that protobuf-net can serialize.</typeparam>
[RequiresUnreferencedCode("protobuf-net finds members by reflection. Use a [DataContract] type with a generated codec instead.")]
[RequiresDynamicCode("protobuf-net emits code at run time. Use a [DataContract] type with a generated codec instead.")]
public sealed class ProtobufNetCodec<T> : IPayloadCodec<T>
{
    /// <summary>Creates a codec with the schema of what protobuf-net's default model writes of the type.</summary>
    /// <exception cref="NotSupportedException">
    /// protobuf-net cannot serialize a member of the type or of a type within it, or would lose values without an error. The message names
    /// each member, and what to do.
    /// </exception>
    public ProtobufNetCodec()
        : this(ProtobufNetSchema.Of(typeof(T)))
    {
    }

    /// <summary>
    /// Creates a codec with the specified schema. The type is not checked, and the schema must describe what protobuf-net writes.
    /// </summary>
    public ProtobufNetCodec(PayloadSchema schema)
    {
        ArgumentNullException.ThrowIfNull(schema);
        Schema = schema;
    }

    /// <inheritdoc/>
    public PayloadSchema Schema { get; }

    /// <inheritdoc/>
    public int GetSize(in T value)
    {
        var scratch = Serialize(value);
        int size = scratch.Written.Length;
        scratch.Return();
        return size;
    }

    /// <inheritdoc/>
    public int Write(in T value, Span<byte> destination)
    {
        var scratch = Serialize(value);
        int size = scratch.Written.Length;
        scratch.Written.CopyTo(destination);
        scratch.Return();
        return size;
    }

    /// <inheritdoc/>
    public T Read(ReadOnlySpan<byte> source)
    {
        try
        {
            return Serializer.Deserialize<T>(source);
        }
        catch (Exception error) when (IsAboutTheBytes(error))
        {
            throw new PayloadFormatException(
                $"protobuf-net cannot read these bytes as {typeof(T)}: {error.Message.TrimEnd('.')}. Check that both sides have the same "
                + "contract and codec.",
                error);
        }
    }

    private static ScratchWriter Serialize(T value)
    {
        ArgumentNullException.ThrowIfNull(value);
        var scratch = ScratchWriter.Take();
        Serializer.Serialize(scratch, value);
        return scratch;
    }

    // protobuf-net throws a dozen types at malformed bytes; what it throws at a broken installation is not about them.
    private static bool IsAboutTheBytes(Exception error) =>
        error is not (OutOfMemoryException or TypeLoadException or FileNotFoundException or FileLoadException or BadImageFormatException
            or MissingMemberException or TypeInitializationException);
}
