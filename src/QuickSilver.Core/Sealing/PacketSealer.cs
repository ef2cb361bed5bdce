namespace QuickSilver.Core.Sealing;

// Seals what one node sends under one key. It steps to the next key epoch by itself, long before AES-GCM has encrypted as much under one
// subkey as it may (NIST SP 800-38D, section 8.3; RFC 9001, section 6.6): receivers derive the next subkey when they see its packets.
//
// Invariant: no counter of an epoch is used twice in its space, and no epoch begins twice. Every packet that goes out is sealed by itself,
// also one that is sent again: its flags differ.
internal sealed class PacketSealer(
    SecretKey key, Sealer self, long packetsPerEpoch, KeyEpochs epochs = default, uint begun = 0) : IDisposable
{
    public const long DefaultPacketsPerEpoch = 1L << 24;

    private Subkey? _subkey;
    private ulong _counter;
    private ulong _dataCounter;
    private long _left;

    /// <summary>Epochs so far; 0: nothing was sealed yet.</summary>
    public uint Steps { get; private set; } = begun;

    /// <summary>Seals a run of packets of one length; the last may be shorter.</summary>
    /// <param name="run">The packets, all of one kind.</param>
    /// <param name="packetBytes">The length of each.</param>
    /// <param name="into">Room for the sealed run.</param>
    /// <param name="label">The view number in the headers; null: that of the packets.</param>
    /// <returns>The bytes of the sealed run, in which each packet is longer by a trailer.</returns>
    public int Seal(ReadOnlySpan<byte> run, int packetBytes, Span<byte> into, uint? label = null)
    {
        int sealedBytes = 0;
        ref ulong counter = ref (SealedPacket.IsData(new Wire.PacketHeader(run).Kind) ? ref _dataCounter : ref _counter);
        while (!run.IsEmpty)
        {
            var packet = run[..Math.Min(packetBytes, run.Length)];
            var target = into.Slice(sealedBytes, packet.Length + SealedPacket.TrailerBytes);
            if (_left == 0)
            {
                Step();
            }

            _left--;
            _subkey!.Seal(packet, target, ++counter, label);
            sealedBytes += target.Length;
            run = run[packet.Length..];
        }

        return sealedBytes;
    }

    /// <summary>Gives the subkey up. What is sealed after that is sealed in a new epoch.</summary>
    public void Dispose()
    {
        _subkey?.Dispose();
        _subkey = null;
        _left = 0;
    }

    private void Step()
    {
        _subkey?.Dispose();
        _subkey = new Subkey(key, self, epochs.Number(++Steps));
        (_counter, _dataCounter, _left) = (0, 0, packetsPerEpoch);
    }
}
