using System.Buffers.Binary;
using QuickSilver.Endpoints;
using QuickSilver.Inboxes;
using QuickSilver.Transfers;

namespace QuickSilver.States.Joining;

internal enum StateLetterKind : byte
{
    Piece = 0,
    End = 1,
    Busy = 2,
}

// What this node has of a state, in letters to one that joins: pieces of some entries, and at the end their number. They are of a copy of
// the references, while changes continue: what changes meanwhile goes to the other node as well, which keeps the newer entry.
//
// A letter, after the number of its box: the number of the hello (8 bytes, little endian), what it is (1), and the entries; or at the end
// their number (4).
internal sealed class StateLetters<TKey, TValue>(
    StateTable<TKey, TValue> table, StateEntryBytes<TKey, TValue> bytes, IEndpointNode core, int box, long number) : IBulkLetters
    where TKey : notnull
{
    public const int HeaderBytes = sizeof(long) + 1;
    private const int PieceBytes = 32 << 10;
    private const int PrefixBytes = Inbox.HeaderBytes + HeaderBytes;

    // Null until the first letter.
    private StateEntry<TKey, TValue>[]? _entries;
    private byte[] _letter = [];
    private int _next;
    private bool _isEnded;

    public ReadOnlyMemory<byte> Busy => Begin(new byte[PrefixBytes], StateLetterKind.Busy);

    public ReadOnlyMemory<byte> Current { get; private set; }

    public ValueTask<bool> MoveNextAsync()
    {
        if (_isEnded)
        {
            Interlocked.Increment(ref core.CounterCells.SnapshotsGiven);
            return ValueTask.FromResult(false);
        }

        if (_entries is null)
        {
            _entries = table.ToArray();
            _letter = new byte[PieceBytes];
        }
        else if (_next == _entries.Length)
        {
            byte[] end = new byte[PrefixBytes + sizeof(int)];
            BinaryPrimitives.WriteInt32LittleEndian(end.AsSpan(PrefixBytes), _entries.Length);
            Current = Begin(end, StateLetterKind.End);
            _isEnded = true;
            return ValueTask.FromResult(true);
        }

        int length = WritePiece(_entries);
        Current = Begin(_letter, StateLetterKind.Piece)[..length];
        return ValueTask.FromResult(true);
    }

    public void Dispose()
    {
        // Its references are in the table, too.
    }

    // Returns the length of the letter.
    private int WritePiece(StateEntry<TKey, TValue>[] entries)
    {
        int at = PrefixBytes;
        for (; _next < entries.Length; _next++)
        {
            int size = bytes.GetSize(entries[_next]);
            if (at > PrefixBytes && at + size > _letter.Length)
            {
                break;
            }

            if (at + size > _letter.Length)
            {
                _letter = new byte[PrefixBytes + size];
            }

            at += bytes.Write(entries[_next], _letter.AsSpan(at));
        }

        return at;
    }

    private ReadOnlyMemory<byte> Begin(byte[] letter, StateLetterKind kind)
    {
        BinaryPrimitives.WriteInt32LittleEndian(letter, box);
        BinaryPrimitives.WriteInt64LittleEndian(letter.AsSpan(Inbox.HeaderBytes), number);
        letter[Inbox.HeaderBytes + sizeof(long)] = (byte)kind;
        return letter;
    }
}
