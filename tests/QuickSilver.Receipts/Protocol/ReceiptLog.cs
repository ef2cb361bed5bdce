using QuickSilver.Core.Alarms;
using QuickSilver.Core.Storage;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Protocols;

namespace QuickSilver.Receipts.Protocol;

// Keeps the receipts of a topic on the disk of the publisher, and passes each on when it is there. A log that has failed is opened again,
// and gets what was not synced once more. Of a member whose receipts come faster than the disk takes them, only the newest waits.
//
// What an earlier owner of the log left there may be readable and not on the disk: a sync of that owner may have failed. So the newest
// receipts of it are appended once more, and passed on when that is synced.
//
// Invariant: a receipt that was passed on is in the log below a length that was synced after it was appended.
internal sealed class ReceiptLog : ILogObserver, IProtocolWait
{
    /// <summary>A log of this length begins again.</summary>
    public const int MaxBytes = 1 << 20;

    private static readonly TimeSpan RetryInterval = TimeSpan.FromMilliseconds(500);

    private readonly IProtocolNode _node;
    private readonly ProtocolLogs _logs;
    private readonly LogOptions _options;
    private readonly string _topic;
    private readonly Action<KeptReceipt> _pass;
    private readonly Alarm _retry;
    private readonly SortedDictionary<(NodeKey Publisher, NodeKey Member), long> _waiting = [];
    // Those that were appended, with the end of each in the log.
    private readonly Queue<(long End, KeptReceipt Receipt)> _appended = new();
    private INodeLog? _log;
    private LogException? _failure;
    // Where the log that failed was durable; null: none has failed since the last one was ready.
    private long? _durable;
    private bool _isOpen;
    private bool _isRead;
    private bool _isReady;
    private bool _isClosed;

    public ReceiptLog(IProtocolNode node, ProtocolLogs logs, in ProtocolTopic topic, Action<KeptReceipt> pass)
    {
        _node = node;
        _logs = logs;
        _topic = topic.Name;
        _options = new LogOptions { Name = topic.Id.ToString("x16"), MaxBytes = MaxBytes, PreallocatedBytes = 64 << 10 };
        _pass = pass;
        _retry = new Alarm(Open);
        Open();
    }

    public bool IsWaiting => _waiting.Count > 0 || _appended.Count > 0;

    public long Progress { get; private set; }

    public string What => $"The receipts of topic \"{_topic}\" wait to be on disk";

    public string? WaitsFor => _failure?.Message ?? "the disk of this node";

    public void Keep(NodeKey member, long through)
    {
        Wait(new KeptReceipt(_node.Self, member, through));
        Flush();
    }

    /// <summary>What waits is not passed on any more.</summary>
    public void Close()
    {
        _isClosed = true;
        _node.Environment.Cancel(_retry);
        _log?.Dispose();
    }

    public void OnOpened()
    {
        _isOpen = true;
        if (_durable is { } durable && durable < _log!.Length)
        {
            _log.Truncate(durable);
        }
        else
        {
            Read();
        }
    }

    public void OnRead(long offset, ReadOnlyMemory<byte> bytes)
    {
        int end = 0;
        for (int at = 0; at + KeptReceipt.Bytes <= bytes.Length; at += KeptReceipt.Bytes)
        {
            if (KeptReceipt.TryRead(bytes.Span[at..], out var receipt))
            {
                end = at + KeptReceipt.Bytes;
                if (!_isRead)
                {
                    Wait(receipt);
                }
            }
        }

        _isRead = true;
        if (end < bytes.Length)
        {
            _log!.Truncate(end);
        }
        else
        {
            Begin();
        }
    }

    public void OnTruncated(long length)
    {
        if (_durable == length)
        {
            _durable = null;
            Read();
        }
        else
        {
            Begin();
        }
    }

    public void OnWritten(long length)
    {
    }

    public void OnSynced(long length)
    {
        while (_appended.TryPeek(out var first) && first.End <= length)
        {
            var (_, receipt) = _appended.Dequeue();
            Progress++;
            _pass(receipt);
        }
    }

    public void OnRoom() => Flush();

    public void OnClosed(LogException? failure)
    {
        // The opening of a log that failed makes nothing known: what the one before promised still holds.
        _durable = _isOpen ? Math.Min(_log!.DurableLength, _durable ?? long.MaxValue) : _durable;
        _failure = failure;
        _log = null;
        _isOpen = _isReady = false;
        PutBack();
        if (!_isClosed)
        {
            _node.Environment.Schedule(_retry, RetryInterval);
        }
    }

    private void Open() => _log = _logs.Open(_options, this);

    private void Wait(in KeptReceipt receipt)
    {
        var key = (receipt.Publisher, receipt.Member);
        _waiting[key] = Math.Max(receipt.Through, _waiting.GetValueOrDefault(key));
        _node.OnWait();
    }

    // What was appended is not synced, and will not be.
    private void PutBack()
    {
        while (_appended.TryDequeue(out var one))
        {
            Wait(one.Receipt);
        }
    }

    private void Read()
    {
        if (_log!.Length > 0)
        {
            _log.Read(0, new byte[_log.Length]);
        }
        else
        {
            _isRead = true;
            Begin();
        }
    }

    private void Begin()
    {
        (_durable, _failure) = (null, null);
        _isReady = true;
        Flush();
    }

    private void Flush()
    {
        if (!_isReady || _isClosed)
        {
            return;
        }

        try
        {
            foreach (var (key, through) in _waiting.ToArray())
            {
                if (!TryAppend(new KeptReceipt(key.Publisher, key.Member, through)))
                {
                    break;
                }

                _waiting.Remove(key);
            }

            if (_isReady)
            {
                _log!.Sync();
            }
        }
        catch (LogException)
        {
            // It has failed, and is about to be closed.
        }
    }

    private bool TryAppend(in KeptReceipt receipt)
    {
        Span<byte> bytes = stackalloc byte[KeptReceipt.Bytes];
        receipt.Write(bytes);
        switch (_log!.Append(bytes))
        {
            case LogOutcome.Accepted:
                _appended.Enqueue((_log.Length, receipt));
                return true;
            case LogOutcome.Full:
                if (_log.Truncate(0) == LogOutcome.Accepted)
                {
                    _isReady = false;
                    PutBack();
                }

                return false;
            default:
                return false;
        }
    }
}
