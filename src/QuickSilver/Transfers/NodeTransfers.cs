using QuickSilver.Core.Alarms;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Diagnostics;
using QuickSilver.Endpoints;
using QuickSilver.Inboxes;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Multicast.Protocols.Transfers;

namespace QuickSilver.Transfers;

// The transfers of one protocol on this node: those that it takes, a few at once, and those that it gives. Core thread only.
internal sealed class NodeTransfers : ITransfers, ITransferWire, ILetterReader
{
    /// <summary>The transfers that are taken at once. A donor gives no more to one node.</summary>
    public const int MostTaken = 2;
    private static readonly TimeSpan Tick = TimeSpan.FromMilliseconds(100);

    private readonly IProtocolNode _node;
    private readonly IEndpointNode _core;
    private readonly string _protocol;
    private readonly ITransferSource _source;
    private readonly ILetters _letters;
    private readonly int _box;
    private readonly BulkGiver _giver;
    private readonly Alarm _alarm;
    // In the order of the calls.
    private readonly List<TransferTake> _takes = [];
    private long _turn;
    private long _number;
    private long _malformed;
    private long _failed;
    private bool _isClosed;

    /// <param name="node">The node, for its protocols.</param>
    /// <param name="core">The node, for its endpoints.</param>
    /// <param name="routes">The ways to the inboxes of nodes.</param>
    /// <param name="protocol">The protocol's guarantee.</param>
    /// <param name="source">What this node gives.</param>
    /// <exception cref="InvalidOperationException">The transfers of the protocol are open.</exception>
    public NodeTransfers(IProtocolNode node, IEndpointNode core, InboxRoutes routes, string protocol, ITransferSource source)
    {
        _node = node;
        _core = core;
        _protocol = protocol;
        _source = source;
        _giver = new BulkGiver(routes, core, MostTaken, OnNotGiven);
        _alarm = new Alarm(OnTick);
        string letters = protocol + ".transfers";
        _box = ProtocolLetters.BoxOf(letters);
        _letters = node.OpenLetters(letters, this);
    }

    public long Malformed => Volatile.Read(ref _malformed);

    /// <summary>How much is given to other nodes now.</summary>
    public int Given => _giver.Running;

    public TimeSpan Now => _node.Environment.Now;

    public ITransfer Take(ReadOnlySpan<byte> subject, long from, string what, ITransferTaker taker)
    {
        if (subject.Length > ITransfers.MostSubjectBytes)
        {
            throw new ArgumentException(
                $"The subject of the transfer has {subject.Length:N0} bytes. The limit is {ITransfers.MostSubjectBytes:N0}.",
                nameof(subject));
        }

        ArgumentOutOfRangeException.ThrowIfNegative(from);
        if (_isClosed)
        {
            throw new InvalidOperationException(
                $"The transfers of the protocol {_protocol} have ended: the node ends, or its inbox could not be opened.");
        }

        var take = new TransferTake(this, subject, from, what, taker) { Turn = ++_turn };
        _takes.Add(take);
        _node.OnWait();
        // Not within the call: the taker has no transfer yet.
        TickSoon();
        return take;
    }

    public void AddWaits(List<IProtocolWait> waits) => waits.AddRange(_takes);

    public void Close()
    {
        if (_isClosed)
        {
            return;
        }

        _isClosed = true;
        foreach (var take in _takes.ToArray())
        {
            take.Cancel();
        }

        _giver.Close();
        _node.Environment.Cancel(_alarm);
        _letters.Close();
    }

    public void OnLetter(NodeKey sender, ReadOnlySpan<byte> letter)
    {
        if (!TransferLetter.TryRead(letter, out var read))
        {
            _malformed++;
            return;
        }

        switch (read.Kind)
        {
            case TransferLetterKind.Pull:
                Give(sender, read);
                break;
            case TransferLetterKind.Taken:
                GivenTo(sender, read.Number)?.OnTaken(read.Value);
                break;
            case TransferLetterKind.Stop:
                if (GivenTo(sender, read.Number) is { } given)
                {
                    _giver.End(given);
                }

                break;
            default:
                long number = read.Number;
                _takes.Find(take => take.IsMeant(sender, number))?.OnLetter(read, Now);
                break;
        }
    }

    public void OnUndelivered(NodeKey to)
    {
        foreach (var take in _takes.ToArray())
        {
            take.OnUndelivered(to, Now);
        }
    }

    public void OnEnded(Exception reason)
    {
        if (!_isClosed)
        {
            _isClosed = true;
            foreach (var take in _takes.ToArray())
            {
                take.OnLettersEnded(reason);
            }
        }
    }

    // Above those of an earlier time when this protocol was open, which other nodes may still have.
    long ITransferWire.NextNumber() => _number = Math.Max(_number + 1, Now.Ticks);

    bool ITransferWire.IsMember(NodeKey node) => node != _node.Self && _node.Roster.Contains(node);

    string ITransferWire.Named(NodeKey node) => _node.Named(node).ToString();

    bool ITransferWire.TrySend(NodeKey to, TransferLetterKind kind, long number, long value, ReadOnlySpan<byte> body)
    {
        Span<byte> letter = stackalloc byte[TransferLetter.HeaderBytes + body.Length];
        TransferLetter.WriteHeader(letter, kind, number, value);
        body.CopyTo(letter[TransferLetter.HeaderBytes..]);
        return _letters.TrySend(to, letter);
    }

    void ITransferWire.OnPlace(TransferTake take)
    {
        if (take.IsEnded)
        {
            _takes.Remove(take);
        }

        take.Turn = ++_turn;
        TickSoon();
    }

    private TransferLetters? GivenTo(NodeKey node, long number) =>
        _giver.Find<TransferLetters>(new NodeId(node.Id, node.Incarnation), letters => letters.Number == number);

    private void Give(NodeKey to, in TransferLetter pull)
    {
        if (_source.Open(to, pull.Body, pull.Value) is { } content)
        {
            var node = new NodeId(to.Id, to.Incarnation);
            _giver.Give(node, new TransferLetters(_core, content, _box, pull.Number, exception => OnNotGiven(exception, node)));
        }
        else
        {
            ITransferWire wire = this;
            wire.TrySend(to, TransferLetterKind.Declined, pull.Number, (long)TransferFailure.Absent, default);
        }
    }

    // Beside the core thread.
    private void OnNotGiven(Exception exception, NodeId to)
    {
        long count = Interlocked.Increment(ref _failed);
        if (RepeatedEvent.IsLogged(count))
        {
            ApiLog.TransferNotGiven(_core.Log, exception, _protocol, _core.Named(to), count);
        }
    }

    private void OnTick()
    {
        if (_isClosed)
        {
            return;
        }

        // First, because what follows may throw.
        if (_takes.Count > 0)
        {
            _node.Environment.Schedule(_alarm, Tick);
        }

        foreach (var take in _takes.ToArray())
        {
            take.OnTick(Now);
        }

        while (_takes.Count(static take => take.IsTaking) < MostTaken
            && _takes.Where(static take => take.IsQueued).MinBy(static take => take.Turn) is { } next)
        {
            // Behind the others, also if its taker throws.
            next.Turn = ++_turn;
            next.Begin(Now);
        }
    }

    private void TickSoon()
    {
        if (!_isClosed)
        {
            _node.Environment.Cancel(_alarm);
            _node.Environment.Schedule(_alarm, TimeSpan.Zero);
        }
    }
}
