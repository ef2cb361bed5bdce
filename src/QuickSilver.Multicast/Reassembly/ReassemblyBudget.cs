using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;

namespace QuickSilver.Multicast.Reassembly;

// The part of the budget from which the bytes of a message that does not lie in one packet are taken.
internal enum ReassemblyShare : byte
{
    Large,
    Small,
    // Messages of a best-effort topic that wait for an earlier one.
    Copies,
}

// The memory that all messages of a node that span packets may take together, from their first packet until they are accepted above.
//
// Intuition: the bytes of the whole message are taken when it begins, so a message that has begun never waits for memory. A stream that
// finds too little memory waits in a line, and its packets are kept; returned bytes wake the first stream in the line. Application: small
// and large messages have a line and a limit each, so a message of a few packets does not wait behind messages of megabytes; the streams
// in a line take turns. What goes wrong: all memory may be taken by messages that wait for one in the line, because that one precedes them
// in their topic, or holds back the stream that carries their remaining packets. So when nothing was taken, returned or received for a
// while, the first stream in the line may exceed the limit, up to twice the limit.
internal sealed class ReassemblyBudget
{
    // A buffer up to this size stays with its assembly, as long as the buffers in the pool have no more bytes than MaxPooledBytes
    // together.
    public const int MaxKeptBytes = 16 << 10;
    // A message up to this size is small.
    public const int SmallBytes = 64 << 10;
    private const long MaxPooledBytes = 16 << 20;
    // The messages of a full window, which are held back when one of its packets is lost: that must not cost an allocation per message.
    public const int MaxPooled = 1 << 14;
    // The limits of small messages and of copies, as fractions of the limit of large messages.
    private const int SmallPart = 8;
    private const int CopiesPart = 16;
    private static readonly TimeSpan Patience = TimeSpan.FromMilliseconds(250);

    private readonly INodeEnvironment _environment;
    private readonly Line _large;
    private readonly Line _small;
    private readonly long _copiesLimit;
    private readonly Stack<Assembly> _pool = new();
    private long _pooledBytes;
    private long _copies;
    private long _pieces;
    private Alarm? _look;
    private bool _isLookDue;

    public ReassemblyBudget(INodeEnvironment environment, long limitBytes)
    {
        _environment = environment;
        _large = new Line(limitBytes);
        _small = new Line(limitBytes / SmallPart);
        _copiesLimit = limitBytes / CopiesPart;
    }

    public NodeHeap Heap => _environment.Heap;

    /// <summary>The bytes that are taken now, of all shares.</summary>
    public long Bytes => _large.Bytes + _small.Bytes + _copies;

    /// <summary>
    /// Takes the bytes of a message. Returns false when there are too few, or when other streams wait; the stream is then asked to retry
    /// when its turn comes.
    /// </summary>
    public bool TryTake(int bytes, IReassemblyWaiter stream, out ReassemblyShare share)
    {
        var line = LineOf(bytes, out share);
        return line.TryTake(bytes) || TryTakeInLine(line, bytes, stream);
    }

    private bool TryTakeInLine(Line line, int bytes, IReassemblyWaiter stream)
    {
        if (line.Waiting.TryPeek(out var first) && first == stream && line.Bytes + bytes <= (line.IsOverdue ? line.Limit * 2 : line.Limit))
        {
            line.Waiting.Dequeue();
            stream.IsInLine = false;
            line.IsOverdue = false;
            line.Take(bytes);
            return true;
        }

        if (!stream.IsInLine)
        {
            Heap.Ask(HeapUse.OpenMessage, sizeof(long));
            line.Waiting.Enqueue(stream);
            stream.IsInLine = true;
            line.NoteMoves(_pieces, _environment.Now);
            LookIn(Patience);
        }

        return false;
    }

    /// <summary>Takes the bytes of a message without waiting in line.</summary>
    public bool TryTakeNow(int bytes, out ReassemblyShare share)
    {
        var line = LineOf(bytes, out share);
        return line.TryTake(bytes);
    }

    public bool TryTakeForCopy(int bytes)
    {
        if (_copies + bytes > _copiesLimit)
        {
            return false;
        }

        _copies += bytes;
        return true;
    }

    public void ReturnBytes(ReassemblyShare share, int bytes)
    {
        if (share == ReassemblyShare.Copies)
        {
            _copies -= bytes;
            return;
        }

        var line = share == ReassemblyShare.Large ? _large : _small;
        line.Take(-bytes);
        if (line.Waiting.Count > 0 && !_isLookDue)
        {
            // A call from here would enter another stream while the caller is in the middle of processing its own.
            _isLookDue = true;
            LookIn(TimeSpan.Zero);
        }
    }

    /// <summary>Notes that a message has received a piece.</summary>
    public void NotePiece() => _pieces++;

    public Assembly Rent()
    {
        if (!_pool.TryPop(out var assembly))
        {
            Heap.Ask(HeapUse.OpenMessage, 0);
            return new Assembly(this);
        }

        _pooledBytes -= assembly.Buffer.Length;
        return assembly;
    }

    public void Return(Assembly assembly)
    {
        if (assembly.Buffer.Length > MaxKeptBytes || _pooledBytes + assembly.Buffer.Length > MaxPooledBytes)
        {
            assembly.ReleaseBuffer();
        }

        if (_pool.Count < MaxPooled)
        {
            _pooledBytes += assembly.Buffer.Length;
            _pool.Push(assembly);
        }
    }

    public void Close() => _environment.CancelIfMade(_look);

    private Line LineOf(int bytes, out ReassemblyShare share)
    {
        share = bytes > SmallBytes ? ReassemblyShare.Large : ReassemblyShare.Small;
        return share == ReassemblyShare.Large ? _large : _small;
    }

    private void LookIn(TimeSpan delay)
    {
        _look ??= new Alarm(OnLook);
        if (delay == TimeSpan.Zero || !_look.IsPending)
        {
            _environment.Schedule(_look, delay);
        }
    }

    private void OnLook()
    {
        _isLookDue = false;
        Serve(_small);
        Serve(_large);
        if (_small.Waiting.Count + _large.Waiting.Count > 0)
        {
            LookIn(Patience);
        }
    }

    private void Serve(Line line)
    {
        line.NoteMoves(_pieces, _environment.Now);
        line.IsOverdue = _environment.Now - line.UnchangedSince >= Patience;
        while (line.Waiting.TryPeek(out var first))
        {
            long taken = line.Moves;
            if (first.IsWaiting)
            {
                first.Retry();
            }
            else
            {
                line.Waiting.Dequeue();
                first.IsInLine = false;
                continue;
            }

            if (line.Moves == taken)
            {
                break;
            }
        }

        line.IsOverdue = false;
    }

    // The bytes for messages of one size, and the streams that wait for them.
    private sealed class Line(long limit)
    {
        public long Limit { get; } = limit;
        public long Bytes { get; private set; }
        // How often bytes were taken or returned.
        public long Moves { get; private set; }
        public Queue<IReassemblyWaiter> Waiting { get; } = new();
        // Whether the first stream may exceed the limit.
        public bool IsOverdue { get; set; }
        public TimeSpan UnchangedSince { get; private set; }
        private long _movesWhenSeen = -1;

        /// <summary>Returns false when there is too little, or when other streams wait.</summary>
        public bool TryTake(int bytes)
        {
            bool isFree = Waiting.Count == 0 && Bytes + bytes <= Limit;
            if (isFree)
            {
                Take(bytes);
            }

            return isFree;
        }

        public void Take(int bytes)
        {
            Bytes += bytes;
            Moves++;
        }

        public void NoteMoves(long pieces, TimeSpan now)
        {
            if (Moves + pieces != _movesWhenSeen)
            {
                _movesWhenSeen = Moves + pieces;
                UnchangedSince = now;
            }
        }
    }
}

// A stream of which a message waits in line for memory.
internal interface IReassemblyWaiter
{
    /// <summary>Maintained by the budget.</summary>
    bool IsInLine { get; set; }

    bool IsWaiting { get; }

    /// <summary>Called in the stream's turn, when there may be memory.</summary>
    void Retry();
}
