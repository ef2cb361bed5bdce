using System.Buffers;
using QuickSilver.Groups.Tools.Replicas;

namespace QuickSilver.Groups.Tools.Dictionaries;

// The entries of a dictionary as bytes. Each change of a key takes the next version, so a version is never used twice, also if a key is
// removed and added again.
//
// Invariant: the entries take at most MostBytes, so the state fits into that of a group.
internal sealed class DictionaryMachine : Machine
{
    public const byte Set = 1;
    public const byte Add = 2;
    public const byte Update = 3;
    public const byte Remove = 4;
    public const byte Synchronize = 5;

    // Answers that are no version.
    public const long Refused = 0;
    public const long TooManyKeys = -1;
    public const long TooManyBytes = -2;

    public const int MostKeys = 1_000_000;
    public const long MostBytes = 48L << 20;
    // Of an entry beside its key and its value, in the state and in memory.
    private const int EntryBytes = 48;
    private const int LeastStateBytes = (2 * sizeof(int)) + sizeof(long);

    private readonly Dictionary<byte[], Entry> _entries = new(BytesComparer.Instance);
    private List<EntryChange> _changes = [];
    private long _version;
    private long _bytes;
    private bool _isRead;

    public IReadOnlyDictionary<byte[], Entry> Entries => _entries;

    /// <summary>The version of the last change.</summary>
    public long LastVersion => _version;

    public static byte[] SetOf(byte kind, int maxKeys, int keyBytes, int valueBytes, out Span<byte> key, out Span<byte> value)
    {
        byte[] message = Operation.Create(kind, checked((3 * sizeof(int)) + keyBytes + valueBytes));
        var body = Operation.BodyOf(message);
        body.Write(maxKeys);
        key = body.WriteSized(keyBytes);
        value = body.WriteSized(valueBytes);
        return message;
    }

    public static byte[] UpdateOf(long version, int keyBytes, int valueBytes, out Span<byte> key, out Span<byte> value)
    {
        byte[] message = Operation.Create(Update, checked(sizeof(long) + (2 * sizeof(int)) + keyBytes + valueBytes));
        var body = Operation.BodyOf(message);
        body.Write(version);
        key = body.WriteSized(keyBytes);
        value = body.WriteSized(valueBytes);
        return message;
    }

    public static byte[] RemoveOf(int keyBytes, out Span<byte> key)
    {
        byte[] message = Operation.Create(Remove, checked(sizeof(int) + keyBytes));
        var body = Operation.BodyOf(message);
        key = body.WriteSized(keyBytes);
        return message;
    }

    /// <summary>What has changed since the last call. All may have, if the state was read.</summary>
    public List<EntryChange> TakeChanges(out bool isRead)
    {
        isRead = _isRead;
        _isRead = false;
        var taken = _changes;
        if (taken.Count > 0)
        {
            _changes = [];
        }

        return taken;
    }

    protected override void OnMembers(IReadOnlyList<NodeId> members, HashSet<NodeId> gone, List<Answer> answers)
    {
    }

    protected override void OnForgotten(NodeId node, long through, List<Answer> answers)
    {
    }

    protected override bool TryApply(NodeId sender, in Operation operation, List<Answer> answers)
    {
        var reader = new FieldReader(operation.Body);
        long result = Refused;
        switch (operation.Kind)
        {
            case Set or Add:
                int maxKeys = reader.ReadInt32();
                var key = reader.ReadSized();
                var value = reader.ReadSized();
                if (!reader.IsComplete)
                {
                    return false;
                }

                result = operation.Kind == Add && Find(key) is not null ? Refused : Put(sender, key, value, maxKeys);
                break;
            case Update:
                long version = reader.ReadInt64();
                key = reader.ReadSized();
                value = reader.ReadSized();
                if (!reader.IsComplete)
                {
                    return false;
                }

                result = Find(key) is { } known && known.Version == version ? Put(sender, key, value, MostKeys) : Refused;
                break;
            case Remove:
                key = reader.ReadSized();
                if (!reader.IsComplete)
                {
                    return false;
                }

                result = Take(sender, key);
                break;
            case Synchronize when operation.Body.IsEmpty:
                break;
            default:
                return false;
        }

        answers.Add(new Answer(sender, operation.Number, result));
        return true;
    }

    protected override void WriteContent(IBufferWriter<byte> to)
    {
        to.Write(_version);
        to.Write(_entries.Count);
        foreach (var (key, entry) in _entries)
        {
            to.WriteSized(key);
            to.WriteSized(entry.Value);
            to.Write(entry.Version);
        }
    }

    protected override bool TryReadContent(ref FieldReader from)
    {
        _entries.Clear();
        _changes = [];
        _isRead = true;
        _bytes = 0;
        _version = from.ReadNumber();
        for (int left = from.ReadCount(LeastStateBytes); left > 0; left--)
        {
            byte[] key = from.ReadSized().ToArray();
            byte[] value = from.ReadSized().ToArray();
            long version = from.ReadNumber();
            if (version == 0 || version > _version || !_entries.TryAdd(key, new Entry(value, version)))
            {
                return false;
            }

            _bytes += SizeOf(key, value);
        }

        return _bytes <= MostBytes;
    }

    private static long SizeOf(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value) => (long)EntryBytes + key.Length + value.Length;

    private Entry? Find(ReadOnlySpan<byte> key) =>
        _entries.GetAlternateLookup<ReadOnlySpan<byte>>().TryGetValue(key, out var entry) ? entry : null;

    private long Put(NodeId origin, ReadOnlySpan<byte> keySpan, ReadOnlySpan<byte> valueSpan, int maxKeys)
    {
        var lookup = _entries.GetAlternateLookup<ReadOnlySpan<byte>>();
        bool isKnown = lookup.TryGetValue(keySpan, out byte[]? key, out var known);
        if (!isKnown && _entries.Count >= Math.Clamp(maxKeys, 0, MostKeys))
        {
            return TooManyKeys;
        }

        long bytes = _bytes + SizeOf(keySpan, valueSpan) - (isKnown ? SizeOf(keySpan, known!.Value) : 0);
        if (bytes > MostBytes)
        {
            return TooManyBytes;
        }

        key ??= keySpan.ToArray();
        byte[] value = valueSpan.ToArray();
        _bytes = bytes;
        _entries[key] = new Entry(value, ++_version);
        _changes.Add(new EntryChange(key, value, _version, origin));
        return _version;
    }

    private long Take(NodeId origin, ReadOnlySpan<byte> key)
    {
        if (!_entries.GetAlternateLookup<ReadOnlySpan<byte>>().Remove(key, out byte[]? known, out var entry))
        {
            return Refused;
        }

        _bytes -= SizeOf(known, entry.Value);
        _changes.Add(new EntryChange(known, null, ++_version, origin));
        return _version;
    }
}

internal sealed record Entry(byte[] Value, long Version);

// The value is null if the key was removed.
internal readonly record struct EntryChange(byte[] Key, byte[]? Value, long Version, NodeId Origin);
