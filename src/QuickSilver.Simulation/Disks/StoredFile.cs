using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Disks;

// One file of a simulated disk, twice: as the system shows it, and as it would be after a loss of power.
//
// Invariant: below _changedFrom nothing was written or cut off since the last sync. What a failed sync dropped is zeros in the durable
// image and data in the visible one, and stays so until it is truncated.
internal sealed class StoredFile
{
    private readonly MemoryStream _visible = new();
    private readonly MemoryStream _durable = new();
    private long _changedFrom;

    public long Length => _visible.Length;

    /// <summary>A log of the present life has it open.</summary>
    public bool IsLocked { get; set; }

    public void Read(long offset, Span<byte> into)
    {
        _visible.Position = offset;
        _visible.ReadExactly(into);
    }

    public void Write(long offset, ReadOnlySpan<byte> bytes)
    {
        _changedFrom = Math.Min(_changedFrom, offset);
        _visible.Position = offset;
        _visible.Write(bytes);
    }

    public void Truncate(long length)
    {
        _changedFrom = Math.Min(_changedFrom, length);
        _visible.SetLength(length);
    }

    public void Sync() => Keep(Changed(Length));

    /// <summary>A sync has failed: what it was to write is clean for the system, and nowhere on the disk.</summary>
    public void DropUnsynced() => Keep(new byte[Length - _changedFrom]);

    /// <summary>Only the durable image is left, and a random front part of what was not synced.</summary>
    public void LosePower(SeededRandom random, double lostSectors)
    {
        bool wasCutOff = _durable.Length > _changedFrom;
        if (!wasCutOff || random.Chance(0.5))
        {
            // Else an unsynced truncation is lost, and all that was written after it.
            long end = _changedFrom + random.Below((int)(Length - _changedFrom) + 1);
            var kept = Changed(end);
            LoseSectors(kept, random, lostSectors);
            Keep(kept);
        }

        _visible.SetLength(0);
        _durable.WriteTo(_visible);
        _changedFrom = Length;
    }

    private byte[] Changed(long end) => _visible.GetBuffer().AsSpan((int)_changedFrom, (int)(end - _changedFrom)).ToArray();

    private void Keep(byte[] changed)
    {
        _durable.SetLength(_changedFrom);
        _durable.Position = _changedFrom;
        _durable.Write(changed);
        _changedFrom = _durable.Length;
    }

    private void LoseSectors(byte[] kept, SeededRandom random, double share)
    {
        for (int at = 0; at < kept.Length;)
        {
            // Sectors are the disk's, wherever the change begins.
            int next = Math.Min(kept.Length, at + DiskModel.SectorBytes - (int)((_changedFrom + at) % DiskModel.SectorBytes));
            if (random.Chance(share))
            {
                kept.AsSpan(at..next).Clear();
            }

            at = next;
        }
    }
}
