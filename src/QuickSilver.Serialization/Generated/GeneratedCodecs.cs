using System.ComponentModel;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace QuickSilver.Serialization.Generated;

/// <summary>
/// The codecs of this process by type: those for bytes and strings, and those that the source generator wrote, which each
/// assembly's module initializer registers. A codec has no state and is registered once and never removed, so that this,
/// although static, is shared by all nodes without their noticing.
/// </summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public static class GeneratedCodecs
{
    /// <summary>Registers the codec of <typeparamref name="T"/>.</summary>
    /// <exception cref="InvalidOperationException">The type has a codec already.</exception>
    public static void Register<T>(IPayloadCodec<T> codec)
    {
        ArgumentNullException.ThrowIfNull(codec);
        if (Interlocked.CompareExchange(ref Slot<T>.Codec, codec, null) is { } existing)
        {
            throw new InvalidOperationException(
                $"{typeof(T)} already has the codec {existing.GetType()}. It cannot be replaced by {codec.GetType()}.");
        }
    }

    /// <summary>The codec of <typeparamref name="T"/>, if it has one.</summary>
    public static bool TryGet<T>([NotNullWhen(true)] out IPayloadCodec<T>? codec)
    {
        codec = Volatile.Read(ref Slot<T>.Codec);
        if (codec is null)
        {
            // An assembly that holds contracts alone may not have run a line yet, nor its module initializer.
            RuntimeHelpers.RunModuleConstructor(typeof(T).Module.ModuleHandle);
            codec = Volatile.Read(ref Slot<T>.Codec);
        }

        return codec is not null;
    }

    private static class Slot<T>
    {
        public static IPayloadCodec<T>? Codec = BuiltIn();

        private static IPayloadCodec<T>? BuiltIn()
        {
            if (typeof(T) == typeof(byte[]))
            {
                return (IPayloadCodec<T>)(object)new ByteArrayCodec();
            }

            if (typeof(T) == typeof(ReadOnlyMemory<byte>))
            {
                return (IPayloadCodec<T>)(object)new MemoryCodec();
            }

            return typeof(T) == typeof(string) ? (IPayloadCodec<T>)(object)new StringCodec() : null;
        }
    }
}
