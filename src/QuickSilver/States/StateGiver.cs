using System.Buffers.Binary;
using QuickSilver.Endpoints;
using QuickSilver.Inboxes;

namespace QuickSilver.States;

internal enum StateLetterKind : byte
{
    Piece = 0,
    End = 1,
    Busy = 2,
}

// Gives what this node has to one that joins: pieces of some entries, and at the end their number. It runs beside the core thread, on a
// copy of the references, while changes go on: what changes meanwhile goes to the other node as well, which keeps the newer entry.
//
// A letter, after the number of its box: the number of the hello (8 bytes, little endian), what it is (1), and the entries; or at the end
// their number (4).
internal sealed class StateGiver<TKey, TValue>(
    StateTable<TKey, TValue> table, StateEntryBytes<TKey, TValue> bytes, InboxRoutes routes, IEndpointNode core)
    where TKey : notnull
{
    public const int HeaderBytes = sizeof(long) + 1;
    // Beyond them a node is told to ask another one: each holds a copy of all references.
    private const int MaxAtOnce = 4;
    private const int PieceBytes = 32 << 10;
    private const int PrefixBytes = Inbox.HeaderBytes + HeaderBytes;

    private int _running;

    /// <summary>Core thread: begins to give.</summary>
    public void Give(NodeId to, int box, long number)
    {
        if (_running >= MaxAtOnce)
        {
            _ = routes.SendAsync(to, Begin(new byte[PrefixBytes], box, number, StateLetterKind.Busy));
            return;
        }

        _running++;
        core.Environment.RunBeside(new Giving(this, to, box, number));
    }

    private async Task GiveAsync(NodeId to, int box, long number)
    {
        try
        {
            if (!await routes.OpenAsync(to).ConfigureAwait(core.ResumesInContext))
            {
                return;
            }

            var entries = table.ToArray();
            byte[] letter = new byte[PieceBytes];
            int at = PrefixBytes;
            foreach (var entry in entries)
            {
                int size = bytes.GetSize(entry);
                if (at > PrefixBytes && at + size > letter.Length)
                {
                    await SendAsync(at).ConfigureAwait(core.ResumesInContext);
                    at = PrefixBytes;
                }

                if (at + size > letter.Length)
                {
                    letter = new byte[PrefixBytes + size];
                }

                at += bytes.Write(entry, letter.AsSpan(at));
            }

            await SendAsync(at).ConfigureAwait(core.ResumesInContext);
            byte[] end = new byte[PrefixBytes + sizeof(int)];
            BinaryPrimitives.WriteInt32LittleEndian(end.AsSpan(PrefixBytes), entries.Length);
            await routes.SendAsync(to, Begin(end, box, number, StateLetterKind.End)).ConfigureAwait(core.ResumesInContext);
            Interlocked.Increment(ref core.CounterCells.SnapshotsGiven);

            ValueTask SendAsync(int length) =>
                routes.SendAsync(to, Begin(letter, box, number, StateLetterKind.Piece)[..length]);
        }
        finally
        {
            core.Run(() => _running--);
        }
    }

    private static ReadOnlyMemory<byte> Begin(byte[] letter, int box, long number, StateLetterKind kind)
    {
        BinaryPrimitives.WriteInt32LittleEndian(letter, box);
        BinaryPrimitives.WriteInt64LittleEndian(letter.AsSpan(Inbox.HeaderBytes), number);
        letter[Inbox.HeaderBytes + sizeof(long)] = (byte)kind;
        return letter;
    }

    private sealed class Giving(StateGiver<TKey, TValue> giver, NodeId to, int box, long number) : IThreadPoolWorkItem
    {
        public void Execute() => _ = giver.GiveAsync(to, box, number);
    }
}
