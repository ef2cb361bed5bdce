using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Storage;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Seeds.Tests.Logs;

// A user of a log in one life of a machine, as small as one can be: it appends records, syncs some, reads some again, and opens the log
// again when it has failed. It finds its records by their frames, and cuts the log off behind the last one.
internal sealed class LogUser : ILogObserver
{
    private const string Name = "records";
    private const int MaxBytes = 256 << 10;
    private const int PieceBytes = 16 << 10;

    private static readonly TimeSpan Retry = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan LongestRest = TimeSpan.FromMilliseconds(4);

    private readonly INodeEnvironment _environment;
    private readonly LogLedger _ledger;
    private readonly SeededRandom _random;
    private readonly int _preallocated;
    private readonly Alarm _tick;
    private readonly Alarm _retry;
    private readonly Queue<long> _reading = new();
    private INodeLog? _log;
    private byte[] _content = [];
    private int _known;
    // Where the last log of this process was durable when it failed; null: there was none.
    private long? _durable;
    private bool _wasOpen;

    public LogUser(INodeEnvironment environment, LogLedger ledger, SeededRandom random, int preallocated)
    {
        _environment = environment;
        _ledger = ledger;
        _random = random;
        _preallocated = preallocated;
        _tick = new Alarm(Tick);
        _retry = new Alarm(Open);
        environment.Post(new ActionRequest(Open));
    }

    /// <summary>Whether its records are found, and it appends more.</summary>
    public bool IsReady { get; private set; }

    public void OnOpened()
    {
        _wasOpen = true;
        if (_durable is { } durable && durable < _log!.Length)
        {
            _ledger.OnTruncating(durable, isWanted: false);
            _log.Truncate(durable);
        }
        else
        {
            ReadAll();
        }
    }

    public void OnWritten(long length)
    {
    }

    public void OnSynced(long length) => _ledger.OnSynced(length);

    public void OnRead(long offset, ReadOnlyMemory<byte> bytes)
    {
        if (IsReady)
        {
            _ledger.OnRead(_reading.Dequeue(), bytes.Span);
        }
        else
        {
            _known += bytes.Length;
            ReadOn();
        }
    }

    public void OnTruncated(long length)
    {
        _ledger.OnTruncated(length);
        if (IsReady)
        {
            return;
        }

        if (_durable == length)
        {
            _ledger.OnCutToDurable();
            _durable = null;
            ReadAll();
        }
        else
        {
            Begin();
        }
    }

    public void OnRoom()
    {
    }

    public void OnClosed(LogException? failure)
    {
        // The opening of a log that failed makes nothing known: what the one before promised still holds.
        _durable = _wasOpen ? Math.Min(_log!.DurableLength, _durable ?? long.MaxValue) : _durable;
        _log = null;
        IsReady = _wasOpen = false;
        _reading.Clear();
        _environment.Cancel(_tick);
        _environment.Schedule(_retry, Retry);
    }

    private void Open()
    {
        var options = new LogOptions
        {
            Name = Name,
            BlockBytes = PieceBytes,
            MaxBytes = MaxBytes,
            PreallocatedBytes = _preallocated,
        };
        _log = _environment.OpenLog(options, this);
    }

    private void ReadAll()
    {
        _content = new byte[_log!.Length];
        _known = 0;
        ReadOn();
    }

    private void ReadOn()
    {
        if (_known < _content.Length)
        {
            _log!.Read(_known, _content.AsMemory(_known, Math.Min(PieceBytes, _content.Length - _known)));
            return;
        }

        var found = RecordFrame.Scan(_content);
        _ledger.OnOpened(found);
        long end = found.Count > 0 ? found[^1].End : 0;
        if (end < _content.Length)
        {
            _ledger.OnTruncating(end, isWanted: false);
            _log!.Truncate(end);
        }
        else
        {
            Begin();
        }
    }

    private void Begin()
    {
        _durable = null;
        IsReady = true;
        _environment.Schedule(_tick, _random.UpTo(LongestRest));
    }

    private void Tick()
    {
        _environment.Schedule(_tick, _random.UpTo(LongestRest));
        try
        {
            bool hasRoom = true;
            for (int i = _random.Below(4); i > 0 && hasRoom; i--)
            {
                hasRoom = TryAppend();
            }

            if (hasRoom && _random.Chance(0.3))
            {
                _log!.Sync();
            }

            if (hasRoom && _random.Chance(0.3))
            {
                ReadOne();
            }
        }
        catch (LogException)
        {
            // It has failed, and is about to say so.
        }
    }

    private bool TryAppend()
    {
        long number = _ledger.NextNumber();
        var payload = new byte[1 + _random.Below(RecordFrame.MaxPayload)];
        new Random((int)number).NextBytes(payload);
        var frame = RecordFrame.Write(number, payload);
        long offset = _log!.Length;
        switch (_log.Append(frame))
        {
            case LogOutcome.Accepted:
                _ledger.OnAppended(number, offset, frame);
                return true;
            case LogOutcome.Full:
                if (_log.Truncate(0) == LogOutcome.Accepted)
                {
                    _ledger.OnTruncating(0, isWanted: true);
                }

                return false;
            default:
                return false;
        }
    }

    private void ReadOne()
    {
        if (_ledger.Pick(_random, _log!.Length) is { } record
            && _log.Read(record.Offset, new byte[record.Length]) == LogOutcome.Accepted)
        {
            _reading.Enqueue(record.Number);
        }
    }
}
