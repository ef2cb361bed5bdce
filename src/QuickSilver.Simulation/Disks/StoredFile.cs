using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Disks;

// One file of a simulated disk, twice: as the system shows it, and as it would be after a loss of power.
//
// Invariant: the durable image with all changes done, in order, is the visible one. The exception is what a failed sync dropped, and what
// rotted: a dropped write is in the visible image only, until it is truncated or written again.
internal sealed class StoredFile
{
    // How much of the disk's work a change of the length is, compared to the bytes of writes.
    private const int CutWeight = DiskModel.SectorBytes;

    private readonly MemoryStream _visible = new();
    private readonly MemoryStream _durable = new();
    private readonly List<Change> _changes = [];

    public long Length => _visible.Length;

    /// <summary>A log has made it: it is listed.</summary>
    public bool Exists { get; set; }

    /// <summary>The file of the log that has it open, in the present life; null: none.</summary>
    public SimulatedLogFile? Holder { get; set; }

    public bool HasChanges => _changes.Count > 0;

    public void Read(long offset, Span<byte> into)
    {
        _visible.Position = offset;
        _visible.ReadExactly(into);
    }

    public void Write(long offset, ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length > 0)
        {
            Put(_visible, offset, bytes);
            _changes.Add(new Change(offset, bytes.ToArray()));
        }
    }

    /// <summary>Cuts off, or makes longer with zeros.</summary>
    public void SetLength(long length)
    {
        _visible.SetLength(length);
        _changes.Add(new Change(length, null));
    }

    public void Sync()
    {
        foreach (var change in _changes)
        {
            Apply(change, change.Bytes?.Length ?? 0);
        }

        _changes.Clear();
    }

    /// <summary>
    /// A sync has failed: what it was to write is clean for the system, and nowhere on the disk. Where the file has become longer, there
    /// are zeros.
    /// </summary>
    public void DropUnsynced()
    {
        foreach (var change in _changes)
        {
            _durable.SetLength(change.Bytes is { } bytes ? Math.Max(_durable.Length, change.Offset + bytes.Length) : change.Offset);
        }

        _changes.Clear();
    }

    /// <summary>Only the durable image is left, and a random front part of what was not synced.</summary>
    public void LosePower(SeededRandom random, double lostSectors)
    {
        int left = random.Below(_changes.Sum(static change => change.Weight) + 1);
        foreach (var change in _changes)
        {
            int done = Math.Min(left, change.Weight);
            left -= done;
            if (change.Bytes is null)
            {
                if (done < CutWeight / 2)
                {
                    break;
                }

                Apply(change, 0);
            }
            else if (done > 0)
            {
                ApplySectors(change, done, random, lostSectors);
            }
        }

        _changes.Clear();
        _visible.SetLength(0);
        _durable.WriteTo(_visible);
    }

    /// <summary>A bit of what is durable changes by itself. False: the file is empty.</summary>
    public bool Rot(SeededRandom random)
    {
        int bytes = (int)Math.Min(_durable.Length, _visible.Length);
        if (bytes == 0)
        {
            return false;
        }

        int at = random.Below(bytes);
        byte flip = (byte)(1 << random.Below(8));
        _durable.GetBuffer()[at] ^= flip;
        _visible.GetBuffer()[at] ^= flip;
        return true;
    }

    private static void Put(MemoryStream image, long offset, ReadOnlySpan<byte> bytes)
    {
        image.Position = offset;
        image.Write(bytes);
    }

    private void Apply(in Change change, int bytes)
    {
        if (change.Bytes is { } all)
        {
            Put(_durable, change.Offset, all.AsSpan(0, bytes));
        }
        else
        {
            _durable.SetLength(change.Offset);
        }
    }

    // A sector that is lost has what it had before: zeros, where the file has become longer.
    private void ApplySectors(in Change change, int bytes, SeededRandom random, double lost)
    {
        _durable.SetLength(Math.Max(_durable.Length, change.Offset + bytes));
        for (int at = 0; at < bytes;)
        {
            // Sectors are the disk's, wherever the change begins.
            int next = Math.Min(bytes, at + DiskModel.SectorBytes - (int)((change.Offset + at) % DiskModel.SectorBytes));
            if (!random.Chance(lost))
            {
                Put(_durable, change.Offset + at, change.Bytes.AsSpan(at..next));
            }

            at = next;
        }
    }

    // Bytes: null for a change of the length, which is then the offset.
    private readonly record struct Change(long Offset, byte[]? Bytes)
    {
        public int Weight => Bytes?.Length ?? CutWeight;
    }
}
