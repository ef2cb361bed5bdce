namespace QuickSilver.Core.Storage;

// Where appended bytes wait: one block takes appends while the other is being written. So appends gather by themselves while the
// disk is slow, each write takes all of them, and nothing is allocated per append.
//
// Invariant: a block is either filling or being written, and only the core thread exchanges the two.
internal sealed class AppendBlocks(int blockBytes)
{
    private byte[]? _filling;
    private byte[]? _writing;

    /// <summary>Bytes that wait for the next write.</summary>
    public int Filled { get; private set; }

    /// <summary>Bytes that are being written.</summary>
    public int Writing { get; private set; }

    public bool TryAdd(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length > blockBytes - Filled)
        {
            return false;
        }

        _filling ??= GC.AllocateUninitializedArray<byte>(blockBytes);
        bytes.CopyTo(_filling.AsSpan(Filled));
        Filled += bytes.Length;
        return true;
    }

    /// <summary>All that waits, to be written; the other block takes what comes from now on.</summary>
    public Memory<byte> BeginWrite()
    {
        Writing = Filled;
        Filled = 0;
        (_filling, _writing) = (_writing, _filling);
        return _writing.AsMemory(0, Writing);
    }

    /// <summary>How many bytes were written.</summary>
    public int EndWrite()
    {
        int written = Writing;
        Writing = 0;
        return written;
    }
}
