using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;

namespace QuickSilver.Multicast.Reassembly;

// Out of what the bytes of a message are taken that does not lie in one packet.
internal enum ReassemblyShare : byte
{
    Large,
    Small,
    // Messages of a best-effort topic that wait for an earlier one.
    Copies,
}

// What the messages of a node that span packets may take together, from their first packet until they are accepted above.
//
// Intuition: bytes are taken for the whole message when it begins, so one that began never waits for memory. Who finds too little
// waits in line with its packets kept, and who gives bytes back wakes the first of the line. Application: a line each for small and
// for large messages, with bytes of their own, so that a message of some packets does not wait behind those of megabytes; within a
// line streams take turns. What goes wrong: all of it may be taken by messages that wait for one in the line (it goes before them
// in their topic, or holds back the stream that has their rest). So when nothing was taken, given back or received for a while, the
// first of the line goes beyond the limit, up to as much again.
internal sealed class ReassemblyBudget
{
    // A buffer up to this size stays with its assembly, as long as those that wait in the pool have no more than this together.
    public const int MaxKeptBytes = 16 << 10;
    // A message up to this size is small.
    public const int SmallBytes = 64 << 10;
    private const long MaxPooledBytes = 16 << 20;
    // What is held back when a packet of a full window is lost: that is not to cost an allocation a message.
    public const int MaxPooled = 1 << 14;
    // The shares of small messages and of copies, beside that of large ones: one part in so many of it.
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

    /// <summary>Taken and not given back, of all shares.</summary>
    public long Bytes => _large.Bytes + _small.Bytes + _copies;

    /// <summary>
    /// Takes the bytes of a message. False: there are too few, or others wait for some; the stream's turn comes when it is asked to
    /// retry.
    /// </summary>
    public bool TryTake(int bytes, StreamAssembler stream, out ReassemblyShare share)
    {
        var line = LineOf(bytes, out share);
        return line.TryTake(bytes) || TryTakeInLine(line, bytes, stream);
    }

    private bool TryTakeInLine(Line line, int bytes, StreamAssembler stream)
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
            stream.IsInLine = true;
            line.Waiting.Enqueue(stream);
            line.NoteMoves(_pieces, _environment.Now);
            LookIn(Patience);
        }

        return false;
    }

    /// <summary>Takes the bytes of a message that is not worth waiting for.</summary>
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

    public void GiveBack(ReassemblyShare share, int bytes)
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
            // Not from within the call: who gives back is in the midst of a stream of its own.
            _isLookDue = true;
            LookIn(TimeSpan.Zero);
        }
    }

    /// <summary>A message that is being put together goes on.</summary>
    public void NotePiece() => _pieces++;

    public Assembly Rent()
    {
        if (!_pool.TryPop(out var assembly))
        {
            return new Assembly(this);
        }

        _pooledBytes -= assembly.Buffer.Length;
        return assembly;
    }

    public void Return(Assembly assembly)
    {
        if (assembly.Buffer.Length > MaxKeptBytes || _pooledBytes + assembly.Buffer.Length > MaxPooledBytes)
        {
            assembly.LetBufferGo();
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
        line.IsOverdue = _environment.Now - line.StillSince >= Patience;
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

    // The share of one size of messages, and the streams that wait for some of it.
    private sealed class Line(long limit)
    {
        public long Limit { get; } = limit;
        public long Bytes { get; private set; }
        // How often something was taken or given back.
        public long Moves { get; private set; }
        public Queue<StreamAssembler> Waiting { get; } = new();
        // The first may go beyond the limit.
        public bool IsOverdue { get; set; }
        public TimeSpan StillSince { get; private set; }
        private long _movesWhenSeen = -1;

        /// <summary>False: there is too little, or others wait for some.</summary>
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
                StillSince = now;
            }
        }
    }
}
