namespace QuickSilver.Core.Storage;

// A log as its user sees it: order, bounds and failure, over whatever file lies beneath. It does no input or output itself.
//
// The file has one change and one read at a time. While it works, appends gather in a block, syncs in one flag, reads in a queue. When a
// change has ended, NextChange chooses the next. So one flush serves all that waited for it, a slow disk makes larger writes, and no read
// waits for a flush.
//
//   Opening → Open → Ending → Closed      Ending: disposed; what was accepted is still done.
//   any     → Failed → Closed             Failed: nothing is done any more but to close the file.
//
// Invariants:
// - Length = _written + what is being written + what is filled. DurableLength <= _written.
// - While the log is Open or Ending and anything waits, an operation is under way: each call ends with Advance, each end with OnDone.
// - Nothing is accepted while a truncation waits, so that no append, sync or read can come to lie behind one. It begins after all reads.
// - A read begins only when all of its range is written; its range ends at the length that the log had at the call. So it is beside writes
//   of other ranges only.
// - The file is closed when nothing is under way. What ends well beside a failure still counts in DurableLength.
internal sealed class NodeLog : INodeLog, ILogFileOwner
{
    private const long NoTruncation = -1;

    private readonly ILogFile _file;
    private readonly LogOptions _options;
    private readonly ILogObserver _observer;
    private readonly AppendBlocks _blocks;
    private readonly PendingReads _reads = new();
    private LogState _state = LogState.Opening;
    private LogOperation _change;
    private LogOperation _read;
    private long _written;
    private long _truncateTo = NoTruncation;
    private bool _isSyncWanted;
    private RefusedCalls _refused;
    private LogException? _failure;

    private NodeLog(ILogFile file, LogOptions options, ILogObserver observer)
    {
        _file = file;
        _options = options;
        _observer = observer;
        _blocks = new AppendBlocks(options.BlockBytes);
    }

    private enum LogState
    {
        Opening = 0,
        Open,
        Ending,
        Failed,
        Closed,
    }

    public string Name => _options.Name;

    public long Length => _written + _blocks.Writing + _blocks.Filled;

    public long DurableLength { get; private set; }

    public static NodeLog Open(ILogFile file, LogOptions options, ILogObserver observer)
    {
        options.Check();
        var log = new NodeLog(file, options, observer);
        log._change = new LogOperation(LogOperationKind.Open);
        file.Begin(log._change, log);
        return log;
    }

    public LogOutcome Append(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length > _options.BlockBytes)
        {
            throw new ArgumentException(
                $"Cannot append {bytes.Length} bytes to log '{Name}' at once. The limit is {_options.BlockBytes}.",
                nameof(bytes));
        }

        if (!IsAccepting())
        {
            return _refused.Append();
        }

        if (bytes.Length > _options.MaxBytes - Length)
        {
            return LogOutcome.Full;
        }

        if (!_blocks.TryAdd(bytes))
        {
            return _refused.Append();
        }

        Advance();
        return LogOutcome.Accepted;
    }

    public LogOutcome Sync()
    {
        if (!IsAccepting())
        {
            return _refused.Append();
        }

        _isSyncWanted = true;
        Advance();
        return LogOutcome.Accepted;
    }

    public LogOutcome Read(long offset, Memory<byte> into)
    {
        bool isAccepting = IsAccepting();
        if (offset < 0 || (isAccepting && offset > Length))
        {
            throw new ArgumentOutOfRangeException(nameof(offset), offset, $"Log '{Name}' has offsets from 0 to {Length}.");
        }

        if (!isAccepting || _reads.IsFull)
        {
            return _refused.Read();
        }

        _reads.Add(new PendingRead(offset, into[..(int)Math.Min(into.Length, Length - offset)]));
        Advance();
        return LogOutcome.Accepted;
    }

    public LogOutcome Truncate(long length)
    {
        bool isAccepting = IsAccepting();
        if (length < 0 || (isAccepting && length > Length))
        {
            throw new ArgumentOutOfRangeException(nameof(length), length, $"Log '{Name}' has {Length} bytes. Use a length up to that.");
        }

        if (!isAccepting)
        {
            return _refused.Append();
        }

        _truncateTo = length;
        Advance();
        return LogOutcome.Accepted;
    }

    public void Dispose()
    {
        if (_state is LogState.Opening or LogState.Open)
        {
            _state = LogState.Ending;
            Advance();
        }
    }

    public void OnDone(LogOperationKind kind, long value, LogException? failure)
    {
        ref var underWay = ref kind == LogOperationKind.Read ? ref _read : ref _change;
        var done = underWay;
        underWay = default;
        if (kind == LogOperationKind.Close)
        {
            // Whether that succeeded changes nothing: what was promised is on the disk.
            _state = LogState.Closed;
            _observer.OnClosed(_failure);
            return;
        }

        if (failure is not null)
        {
            _failure ??= failure;
            _state = LogState.Failed;
        }
        else
        {
            Settle(done, value);
        }

        Advance();
        if (_failure is null)
        {
            try
            {
                done.ReportTo(_observer, isOpen: _state == LogState.Open);
            }
            finally
            {
                // Also for an observer that throws: no later end may come that could report it.
                ReportRoom();
            }
        }
    }

    // What the end of an operation changes, before the next begins and before any notification.
    private void Settle(in LogOperation done, long value)
    {
        switch (done.Kind)
        {
            case LogOperationKind.Open:
                _state = _state == LogState.Opening ? LogState.Open : _state;
                _written = DurableLength = value;
                break;
            case LogOperationKind.Write:
                _written += _blocks.EndWrite();
                DurableLength = done.IsSynced ? _written : DurableLength;
                break;
            case LogOperationKind.Truncate:
                _truncateTo = NoTruncation;
                _written = DurableLength = done.Offset;
                break;
        }
    }

    private void ReportRoom()
    {
        // An append that was refused may be as long as a block: only an empty one surely has room.
        if (_state == LogState.Open && _truncateTo == NoTruncation
            && _refused.TryEnd(hasBlock: _blocks.Filled == 0, hasRead: !_reads.IsFull))
        {
            _observer.OnRoom();
        }
    }

    private void Advance()
    {
        if (_state is LogState.Opening or LogState.Closed)
        {
            return;
        }

        bool isReading = _read.Kind != LogOperationKind.None;
        if (_state != LogState.Failed && !isReading && _reads.Count > 0 && _reads.First.End <= _written)
        {
            var read = _reads.TakeFirst();
            _read = new LogOperation(LogOperationKind.Read, read.Offset, read.Into);
            isReading = true;
            _file.Begin(_read, this);
        }

        if (_change.Kind == LogOperationKind.None && NextChange(isReading) is { Kind: not LogOperationKind.None } change)
        {
            _change = change;
            _file.Begin(_change, this);
        }
    }

    private LogOperation NextChange(bool isReading)
    {
        if (_state == LogState.Failed)
        {
            return isReading ? default : new LogOperation(LogOperationKind.Close, Offset: -1);
        }

        if (_blocks.Filled > 0 || _isSyncWanted)
        {
            bool isSynced = _isSyncWanted;
            _isSyncWanted = false;
            return new LogOperation(LogOperationKind.Write, _written, _blocks.BeginWrite(), isSynced);
        }

        // With nothing to write, no read waits for a write.
        if (isReading)
        {
            return default;
        }

        return _truncateTo != NoTruncation ? new LogOperation(LogOperationKind.Truncate, _truncateTo)
            : _state == LogState.Ending ? new LogOperation(LogOperationKind.Close, _written)
            : default;
    }

    // Throws where no call will ever be accepted again.
    private bool IsAccepting()
    {
        if (_failure is not null)
        {
            throw new LogException(_failure.Error, $"Log '{Name}' failed and accepts no more operations. {_failure.Message}", _failure);
        }

        ObjectDisposedException.ThrowIf(_state is LogState.Ending or LogState.Closed, this);
        return _state == LogState.Open && _truncateTo == NoTruncation;
    }

    public override string ToString() => $"log {Name} ({_state}, {DurableLength} of {Length} bytes durable)";
}
