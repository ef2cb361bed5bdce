using System.Buffers.Binary;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Diagnostics;
using QuickSilver.Endpoints;
using QuickSilver.Inboxes;

namespace QuickSilver.States.Joining;

internal enum StateLetterKind : byte
{
    Piece = 0,
    End = 1,
    Busy = 2,
}

// Gives what this node has to one that joins: pieces of some entries, and at the end their number. It runs beside the core thread, on a
// copy of the references, while changes continue: what changes meanwhile goes to the other node as well, which keeps the newer entry.
//
// A letter, after the number of its box: the number of the hello (8 bytes, little endian), what it is (1), and the entries; or at the end
// their number (4).
internal sealed class StateGiver<TKey, TValue>(
    string name, StateTable<TKey, TValue> table, StateEntryBytes<TKey, TValue> bytes, InboxRoutes routes, IEndpointNode core)
    where TKey : notnull
{
    public const int HeaderBytes = sizeof(long) + 1;
    /// <summary>A letter that has no room for so long ends what is given: the other node takes nothing.</summary>
    public static readonly TimeSpan LetterLimit = TimeSpan.FromSeconds(3);
    // When all places are taken, the slowest one gives way if it has had this time and was slower than this.
    private static readonly TimeSpan SlowAfter = TimeSpan.FromSeconds(5);
    private const long SlowBytesPerSecond = 1 << 20;
    // Beyond them, a node has to ask another one: each holds a copy of all references.
    private const int MaxAtOnce = 4;
    private const int PieceBytes = 32 << 10;
    private const int PrefixBytes = Inbox.HeaderBytes + HeaderBytes;

    // In the order in which they began.
    private readonly List<Giving> _running = [];
    private long _failed;

    /// <summary>Core thread: to how many nodes it gives now.</summary>
    public int Running => _running.Count;

    /// <summary>Core thread: begins to give. A node that asks again gets it from the start.</summary>
    public void Give(NodeId to, int box, long number)
    {
        var leaving = _running.Find(one => one.To == to) ?? (_running.Count >= MaxAtOnce ? Slowest() : null);
        if (leaving is not null)
        {
            _running.Remove(leaving);
            leaving.Limit.Cancel();
        }

        if (_running.Count >= MaxAtOnce)
        {
            _ = SendBusyAsync(to, box, number);
            return;
        }

        var giving = new Giving(this, to, box, number, core.Environment.Now, new CancellationTokenSource(LetterLimit, core.OutsideTime));
        _running.Add(giving);
        core.Environment.RunBeside(giving);
    }

    private Giving? Slowest()
    {
        Giving? slowest = null;
        double least = SlowBytesPerSecond;
        foreach (var one in _running)
        {
            var time = core.Environment.Now - one.BegunAt;
            double rate = one.Bytes / Math.Max(1, time.TotalSeconds);
            if (time >= SlowAfter && rate < least)
            {
                (slowest, least) = (one, rate);
            }
        }

        return slowest;
    }

    private async Task SendBusyAsync(NodeId to, int box, long number)
    {
        using var limit = new CancellationTokenSource(LetterLimit, core.OutsideTime);
        byte[] letter = new byte[PrefixBytes];
        await routes.SendAsync(to, Begin(letter, box, number, StateLetterKind.Busy), limit.Token).ConfigureAwait(core.ResumesInContext);
    }

    private async Task GiveAsync(Giving giving)
    {
        var (to, box, number, limit) = (giving.To, giving.Box, giving.Number, giving.Limit);
        try
        {
            limit.CancelAfter(Timeout.InfiniteTimeSpan);
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
                    if (!await TrySendAsync(Begin(letter, box, number, StateLetterKind.Piece)[..at]).ConfigureAwait(core.ResumesInContext))
                    {
                        return;
                    }

                    at = PrefixBytes;
                }

                if (at + size > letter.Length)
                {
                    letter = new byte[PrefixBytes + size];
                }

                at += bytes.Write(entry, letter.AsSpan(at));
            }

            byte[] end = new byte[PrefixBytes + sizeof(int)];
            BinaryPrimitives.WriteInt32LittleEndian(end.AsSpan(PrefixBytes), entries.Length);
            if (await TrySendAsync(Begin(letter, box, number, StateLetterKind.Piece)[..at]).ConfigureAwait(core.ResumesInContext)
                && await TrySendAsync(Begin(end, box, number, StateLetterKind.End)).ConfigureAwait(core.ResumesInContext))
            {
                Interlocked.Increment(ref core.CounterCells.SnapshotsGiven);
            }

            // False if the node does not take it in time, or the place went to another one.
            async ValueTask<bool> TrySendAsync(ReadOnlyMemory<byte> bytes)
            {
                limit.CancelAfter(LetterLimit);
                await routes.SendAsync(to, bytes, limit.Token).ConfigureAwait(core.ResumesInContext);
                giving.OnSent(bytes.Length);
                return !limit.IsCancellationRequested;
            }
        }
        catch (Exception exception)
        {
            // A codec of the application may throw anything, and there may be no memory. The other node asks again, and other nodes.
            long failed = Interlocked.Increment(ref _failed);
            if (RepeatedEvent.IsLogged(failed))
            {
                ApiLog.StateNotGiven(core.Log, exception, name, core.Named(to), failed);
            }
        }
        finally
        {
            core.Run(() =>
            {
                _running.Remove(giving);
                limit.Dispose();
            });
        }
    }

    private static ReadOnlyMemory<byte> Begin(byte[] letter, int box, long number, StateLetterKind kind)
    {
        BinaryPrimitives.WriteInt32LittleEndian(letter, box);
        BinaryPrimitives.WriteInt64LittleEndian(letter.AsSpan(Inbox.HeaderBytes), number);
        letter[Inbox.HeaderBytes + sizeof(long)] = (byte)kind;
        return letter;
    }

    private sealed class Giving(
        StateGiver<TKey, TValue> giver, NodeId to, int box, long number, TimeSpan begunAt, CancellationTokenSource limit)
        : IThreadPoolWorkItem
    {
        private long _bytes;

        public NodeId To => to;

        public int Box => box;

        public long Number => number;

        public TimeSpan BegunAt => begunAt;

        public CancellationTokenSource Limit => limit;

        /// <summary>Those that were sent so far. From any thread.</summary>
        public long Bytes => Volatile.Read(ref _bytes);

        public void OnSent(int bytes) => Volatile.Write(ref _bytes, _bytes + bytes);

        public void Execute() => _ = giver.GiveAsync(this);
    }
}
