using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Multicast.Protocols.Transfers;

namespace QuickSilver.Transfers;

// One transfer that this node takes. It asks one donor after the other, each from where it is, until one has given all. When each was asked
// in vain it pauses, and begins again. Core thread only; driven by calls with a time.
//
// What ends the wait for a donor: it declines, is silent, is gone, or gives what cannot be true or has a gap. While the taker has no room,
// the donor gets a sign that this node is there, and its silence does not count.
internal sealed class TransferTake : ITransfer, IProtocolWait
{
    /// <summary>A donor that gives nothing for so long is not waited for.</summary>
    public static readonly TimeSpan SilenceLimit = TimeSpan.FromSeconds(3);
    /// <summary>How often a donor gets a sign while the taker has no room.</summary>
    public static readonly TimeSpan SignInterval = TimeSpan.FromSeconds(1);
    // A quarter of the window, so that the donor does not wait.
    private const long ConfirmedBytes = TransferLetters.WindowBytes / 4;

    private enum Phase
    {
        /// <summary>The next donor can be asked as soon as there is a place.</summary>
        Queued,
        /// <summary>Each donor was asked in vain, or there is none.</summary>
        Pausing,
        Taking,
        Ended,
    }

    private readonly ITransferWire _wire;
    private readonly byte[] _subject;
    private readonly string _subjectName;
    private readonly ITransferTaker _taker;
    private readonly List<NodeKey> _donors = [];
    private Phase _phase = Phase.Queued;
    private int _nextDonor;
    private NodeKey _donor;
    private long _number;
    // Of the present donor.
    private int _chunks;
    private long _bytes;
    private long _confirmed;
    // A letter to the donor found no room.
    private bool _owesPull;
    private bool _isHeld;
    private TimeSpan _heardAt;
    private TimeSpan _signAt;
    private TimeSpan _pausedAt;
    // Not readonly: it is a struct that has state of its own.
    private RetryPause _pause;

    public TransferTake(ITransferWire wire, ReadOnlySpan<byte> subject, long from, string subjectName, ITransferTaker taker)
    {
        _wire = wire;
        _subject = subject.ToArray();
        _subjectName = subjectName;
        _taker = taker;
        Through = from;
    }

    public long Through { get; private set; }

    public NodeKey? Donor => _phase == Phase.Taking ? _donor : null;

    public bool IsEnded => _phase == Phase.Ended;

    public long Progress { get; private set; }

    public string What => $"The transfer of {_subjectName} makes no progress";

    public string? WaitsFor => _phase switch
    {
        Phase.Queued => "the other transfers of this node",
        Phase.Taking when !_isHeld => $"node {_wire.Named(_donor)}",
        Phase.Taking => "the reader of this node",
        _ => "a node that has it",
    };

    public bool IsQueued => _phase == Phase.Queued;

    public bool IsTaking => _phase == Phase.Taking;

    /// <summary>Of those that are queued, the lowest is the next. Set by the node.</summary>
    public long Turn { get; set; }

    /// <summary>Asks the next donor, if there is one. Called when the transfer is queued and there is a place for it.</summary>
    public void Begin(TimeSpan now)
    {
        if (_nextDonor >= _donors.Count)
        {
            _pause.OnAttempt();
            _donors.Clear();
            _nextDonor = 0;
            _taker.AddDonors(_donors);
        }

        while (_phase == Phase.Queued && _nextDonor < _donors.Count)
        {
            var donor = _donors[_nextDonor++];
            if (_wire.IsMember(donor))
            {
                Ask(donor, now);
            }
        }

        if (_phase == Phase.Queued)
        {
            Pause(now);
        }
    }

    public void Continue()
    {
        if (_isHeld)
        {
            _isHeld = false;
            _heardAt = _wire.Now;
            Confirm();
        }
    }

    public void Cancel()
    {
        if (_phase == Phase.Ended)
        {
            return;
        }

        Stop();
        End();
    }

    /// <summary>No letters can be sent or received any more.</summary>
    public void OnLettersEnded(Exception reason)
    {
        End();
        _taker.OnLettersEnded(reason);
    }

    /// <summary>Whether a letter of the node with this number is for this transfer.</summary>
    public bool IsMeant(NodeKey from, long number) => _phase == Phase.Taking && _donor == from && _number == number;

    public void OnLetter(in TransferLetter letter, TimeSpan now)
    {
        switch (letter.Kind)
        {
            case TransferLetterKind.Chunk when letter.Chunks == _chunks && letter.Value > Through:
                OnChunk(letter, now);
                break;
            case TransferLetterKind.End when letter.Chunks == _chunks:
                End();
                _taker.OnEnd(_donor);
                break;
            case TransferLetterKind.Declined:
                Fail((TransferFailure)letter.Value, now);
                break;
            default:
                Fail(TransferFailure.Refused, now);
                break;
        }
    }

    /// <summary>A letter to the node was dropped.</summary>
    public void OnUndelivered(NodeKey to, TimeSpan now)
    {
        if (_phase == Phase.Taking && _donor == to)
        {
            Fail(TransferFailure.Gone, now);
        }
    }

    public void OnTick(TimeSpan now)
    {
        switch (_phase)
        {
            case Phase.Taking when !_wire.IsMember(_donor):
                Fail(TransferFailure.Gone, now);
                break;
            case Phase.Taking when _isHeld:
                if (now - _signAt >= SignInterval)
                {
                    _signAt = now;
                    _wire.TrySend(_donor, TransferLetterKind.Taken, _number, _confirmed, default);
                }

                break;
            case Phase.Taking when now - _heardAt >= SilenceLimit:
                Fail(TransferFailure.Silent, now);
                break;
            case Phase.Taking when _owesPull:
                Pull();
                break;
            case Phase.Taking when _bytes - _confirmed >= ConfirmedBytes:
                Confirm();
                break;
            case Phase.Pausing when _pause.IsOver(now - _pausedAt):
                _phase = Phase.Queued;
                break;
        }
    }

    private void OnChunk(in TransferLetter letter, TimeSpan now)
    {
        var step = _taker.OnChunk(_donor, letter.Body, letter.Value);
        if (_phase == Phase.Ended)
        {
            return;
        }

        if (step == TransferStep.Refuse)
        {
            Fail(TransferFailure.Refused, now);
            return;
        }

        Through = letter.Value;
        Progress++;
        _chunks++;
        _bytes += letter.Body.Length;
        _heardAt = now;
        _pause.OnProgress();
        if (step == TransferStep.Wait)
        {
            _isHeld = true;
            _signAt = now;
        }
        else if (!_isHeld && _bytes - _confirmed >= ConfirmedBytes)
        {
            Confirm();
        }
    }

    private void Ask(NodeKey donor, TimeSpan now)
    {
        _phase = Phase.Taking;
        _donor = donor;
        _number = _wire.NextNumber();
        (_chunks, _bytes, _confirmed, _isHeld) = (0, 0, 0, false);
        _heardAt = now;
        Pull();
    }

    private void Pause(TimeSpan now)
    {
        _phase = Phase.Pausing;
        _pausedAt = now;
    }

    private void Fail(TransferFailure failure, TimeSpan now)
    {
        if (failure is TransferFailure.Silent or TransferFailure.Refused)
        {
            Stop();
        }

        if (_nextDonor < _donors.Count)
        {
            _phase = Phase.Queued;
        }
        else
        {
            Pause(now);
        }

        _wire.OnPlace(this);
        _taker.OnFailed(_donor, failure);
    }

    private void Pull() => _owesPull = !_wire.TrySend(_donor, TransferLetterKind.Pull, _number, Through, _subject);

    private void Confirm()
    {
        if (_wire.TrySend(_donor, TransferLetterKind.Taken, _number, _bytes, default))
        {
            _confirmed = _bytes;
        }
    }

    // A donor that does not get it ends after a while by itself.
    private void Stop()
    {
        if (_phase == Phase.Taking)
        {
            _wire.TrySend(_donor, TransferLetterKind.Stop, _number, 0, default);
        }
    }

    private void End()
    {
        _phase = Phase.Ended;
        _wire.OnPlace(this);
    }
}

// What a transfer needs of its node.
internal interface ITransferWire
{
    TimeSpan Now { get; }

    /// <summary>A number that no transfer of this node had.</summary>
    long NextNumber();

    bool IsMember(NodeKey node);

    string Named(NodeKey node);

    /// <summary>False: there is no room now.</summary>
    bool TrySend(NodeKey to, TransferLetterKind kind, long number, long value, ReadOnlySpan<byte> body);

    /// <summary>The transfer has ended, or needs its place no more for now: it waits behind the others.</summary>
    void OnPlace(TransferTake take);
}
