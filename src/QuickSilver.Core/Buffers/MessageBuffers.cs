using System.Buffers;

namespace QuickSilver.Core.Buffers;

// Buffers of single messages on the collector's heap. From any thread.
//
// Intuition: the runtime's pool keeps what a thread returns for that thread. The buffer of a message is rented by one thread and returned
// by another, which rents none. Of small buffers a few are out of reach in this way. Of large ones a single one is much: under a heap limit
// there was no memory for the next message, until the runtime gave the buffer up half a minute later. Application: large buffers lie in
// slots from which each thread takes. The slots do not keep them alive, so a collection frees what no message uses, and nothing has to be
// given up in time. What goes wrong: after a full collection the next large messages allocate again.
internal static class MessageBuffers
{
    /// <summary>Buffers that are longer are large.</summary>
    public const int MostSmallBytes = 1 << 20;

    private const int Slots = 16;
    // A buffer is not used for a message that needs less than this part of it: the rest could not be used meanwhile.
    private const int LeastPart = 2;
    private static readonly Slot[] Large = [.. Enumerable.Range(0, Slots).Select(static _ => new Slot())];

    /// <summary>Returns a buffer of at least so many bytes, whose content is undefined.</summary>
    /// <exception cref="OutOfMemoryException">There is no memory.</exception>
    public static byte[] Rent(int bytes)
    {
        if (bytes <= MostSmallBytes)
        {
            return ArrayPool<byte>.Shared.Rent(bytes);
        }

        foreach (var slot in Large)
        {
            if (slot.TryTake(bytes) is { } buffer)
            {
                return buffer;
            }
        }

        return GC.AllocateUninitializedArray<byte>(bytes);
    }

    /// <summary>Returns a buffer that was rented. The caller must not use it after that.</summary>
    public static void Return(byte[] buffer)
    {
        if (buffer.Length <= MostSmallBytes)
        {
            ArrayPool<byte>.Shared.Return(buffer);
            return;
        }

        foreach (var slot in Large)
        {
            if (slot.TryPut(buffer))
            {
                return;
            }
        }
    }

    // A thread that finds a slot in use by another one goes to the next, so no thread waits.
    private sealed class Slot
    {
        private readonly WeakReference<byte[]?> _buffer = new(null);
        private int _isInUse;

        public byte[]? TryTake(int bytes)
        {
            if (!TryEnter())
            {
                return null;
            }

            byte[]? taken = null;
            if (_buffer.TryGetTarget(out var buffer) && buffer.Length >= bytes && buffer.Length / LeastPart <= bytes)
            {
                taken = buffer;
                _buffer.SetTarget(null);
            }

            Volatile.Write(ref _isInUse, 0);
            return taken;
        }

        public bool TryPut(byte[] buffer)
        {
            if (!TryEnter())
            {
                return false;
            }

            bool isFree = !_buffer.TryGetTarget(out _);
            if (isFree)
            {
                _buffer.SetTarget(buffer);
            }

            Volatile.Write(ref _isInUse, 0);
            return isFree;
        }

        private bool TryEnter() => Interlocked.CompareExchange(ref _isInUse, 1, 0) == 0;
    }
}
