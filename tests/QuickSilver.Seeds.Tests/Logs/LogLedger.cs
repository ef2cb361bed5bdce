using QuickSilver.Simulation.Checkers.Records;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Seeds.Tests.Logs;

// What is known of the log of one machine, over all its lives: the records that its users appended, where, and which of them they were
// promised to find again. Judges what they find: I12, and that nothing rotten is mistaken for whole.
internal sealed class LogLedger(SimulatedMachine machine)
{
    private readonly SortedDictionary<long, Entry> _entries = [];
    // They were lost to bits that rotted. One may come back, if the same bit changes again.
    private readonly Dictionary<long, Entry> _givenUp = [];
    private long _numbers;
    private int _opening;
    // A truncation that is under way may be done in part, so that a sync that ends before it promises nothing behind.
    private long _truncating = long.MaxValue;
    private long _failures;
    // A sync had failed when the log was last opened, so that what it holds may not be on the disk. No user can find that out.
    private bool _mayLackDropped;

    /// <summary>How many records were promised.</summary>
    public long Promised { get; private set; }

    /// <summary>How many that were promised are lost to bits that rotted.</summary>
    public long Lost { get; private set; }

    /// <summary>How many records were found again by a later opening.</summary>
    public long Found { get; private set; }

    /// <summary>How often the log was opened and read.</summary>
    public int Openings => _opening;

    public long NextNumber() => ++_numbers;

    public void OnAppended(long number, long offset, byte[] frame) =>
        _entries.Add(number, new Entry(offset, frame) { Opening = _opening });

    /// <summary>All bytes below the length that were appended since the log was opened are durable.</summary>
    public void OnSynced(long length)
    {
        foreach (var entry in _entries.Values)
        {
            if (entry.Opening == _opening && entry.End <= Math.Min(length, _truncating))
            {
                Promise(entry);
            }
        }
    }

    /// <summary>The log is to be cut off: what lies behind is promised no more, and may be there until it is done.</summary>
    /// <param name="length">Where.</param>
    /// <param name="isWanted">Whether the user gives up records. Otherwise it considers them lost, and none may be promised.</param>
    public void OnTruncating(long length, bool isWanted)
    {
        _truncating = length;
        foreach (var (number, entry) in _entries)
        {
            if (entry.End > length)
            {
                Require(isWanted || !entry.IsPromised, $"I12: record {number} was promised, and the log is durable up to {length} only");
                entry.IsPromised = false;
            }
        }
    }

    public void OnTruncated(long length)
    {
        _truncating = long.MaxValue;
        foreach (long number in _entries.Where(one => one.Value.End > length).Select(static one => one.Key).ToArray())
        {
            _entries.Remove(number);
        }
    }

    /// <summary>
    /// A log failed, and its user has cut it off where it was durable: nothing is left that a sync dropped since it was opened.
    /// </summary>
    public void OnCutToDurable() => _failures = machine.Disk.Failures;

    /// <summary>The machine lost its power: what a failed sync dropped is not shown any more.</summary>
    public void OnPowerLost() => (_mayLackDropped, _failures) = (false, machine.Disk.Failures);

    /// <summary>A log was opened, and this is in it.</summary>
    public void OnOpened(IReadOnlyList<FoundRecord> found)
    {
        _opening++;
        _truncating = long.MaxValue;
        _mayLackDropped |= machine.Disk.Failures > _failures;
        _failures = machine.Disk.Failures;
        long last = 0;
        var missing = _entries.Keys.ToHashSet();
        foreach (var record in found)
        {
            Require(record.Number > last, $"I12: record {record.Number} follows record {last}");
            last = record.Number;
            missing.Remove(record.Number);
            if (!_entries.TryGetValue(record.Number, out var entry) && _givenUp.Remove(record.Number, out entry))
            {
                _entries.Add(record.Number, entry);
            }

            Require(entry is not null, $"I12: record {record.Number} was cut off or never appended, and is there");
            Require(entry!.Is(record), $"I12: record {record.Number} has a good checksum and other bytes than were appended");
            Found++;
            if (!_mayLackDropped)
            {
                // All that a log holds when it is opened is durable.
                Promise(entry);
            }
        }

        foreach (long number in missing)
        {
            Lose(number);
        }
    }

    /// <summary>A record of chance that is in the log, to be read again; null: there is none.</summary>
    public (long Number, long Offset, int Length)? Pick(SeededRandom random, long length)
    {
        var readable = _entries.Where(one => one.Value.End <= length).ToArray();
        if (readable.Length == 0)
        {
            return null;
        }

        var (number, entry) = readable[random.Below(readable.Length)];
        return (number, entry.Offset, entry.Frame.Length);
    }

    /// <summary>A record was read again.</summary>
    public void OnRead(long number, ReadOnlySpan<byte> bytes)
    {
        if (!_entries.TryGetValue(number, out var entry))
        {
            return;
        }

        if (!RecordFrame.TryRead(bytes, out long read, out int length) || length != bytes.Length || read != number)
        {
            Lose(number);
            Require(machine.Disk.RottenBits > 0, $"I12: record {number} is torn, although nothing rotted since it was appended");
            return;
        }

        Require(
            bytes.SequenceEqual(entry.Frame), $"I12: record {number} has a good checksum and other bytes than were appended");
    }

    private void Promise(Entry entry)
    {
        Promised += entry.IsPromised ? 0 : 1;
        entry.IsPromised = true;
    }

    private void Lose(long number)
    {
        _entries.Remove(number, out var entry);
        if (entry!.IsPromised)
        {
            Lost++;
            Require(
                Lost <= machine.Disk.RottenBits,
                $"I12: record {number} at {entry.Offset} was promised and is not there. {machine.Disk.RottenBits} bits rotted, and {Lost} "
                + "records that were promised are lost");
        }

        _givenUp[number] = entry;
    }

    private void Require(bool holds, string what)
    {
        if (!holds)
        {
            throw new InvariantException($"{what} (node {machine.Number}, life {machine.Lives}).");
        }
    }

    private sealed class Entry(long offset, byte[] frame)
    {
        public long Offset => offset;

        public long End => offset + frame.Length;

        public byte[] Frame => frame;

        public int Opening { get; init; }

        public bool IsPromised { get; set; }

        public bool Is(in FoundRecord record) => record.Offset == offset && record.Frame.AsSpan().SequenceEqual(frame);
    }
}
