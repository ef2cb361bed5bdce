using System.Collections.Immutable;
using System.Net;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Paths;

namespace QuickSilver.Multicast.Reachability;

// Sends echoes for the inquiries of the membership service, and answers the echoes of other nodes. An echo is sent from the port of
// tokens, acknowledgements and repairs to the same port of the other node, and both the echo and its reply are as large as a data packet.
// So what an echo shows about a path holds for those packets too.
//
// The last two echoes are small: a path that drops large datagrams only does not make a member dead, but its packets smaller (PathSizes).
//
// Each target is asked several times within the wait, so one lost datagram does not make a member appear dead. A reply that comes after
// its inquiry has ended counts for the next inquiry: if every reply is late, no member is dead. Of several replies to one echo the first
// counts: one that comes again shows nothing.
internal sealed class EchoExchange(NodeContext context, NodePaths paths)
{
    // The limit of concurrent inquiries. The service needs no more, and takes an inquiry without a result for no finding.
    private const int MaxOpen = 64;
    private const int Tries = 4;
    // The number of echoes whose replies are still recognized.
    private const int Remembered = 1024;
    // A reply is sent to the address that the echo names, which any sender can write. The limit prevents that this node is used to flood a
    // host. 32 inquests, each with 16 parties that try 4 times, cause at most 2,048 echoes, and hardly ever all of them within a second.
    private const int MaxAnswersPerSecond = 1024;

    private readonly List<Inquiry> _open = [];
    private readonly (IPEndPoint? Target, bool IsFirst)[] _asked = new (IPEndPoint?, bool)[Remembered];
    private readonly Dictionary<IPEndPoint, TimeSpan> _answered = [];
    private readonly Dictionary<IPEndPoint, TimeSpan> _answeredFirst = [];
    private readonly long _base = (long)(context.Environment.NextRandom() >> 2);
    private long _sent;
    private bool _isClosed;
    private TimeSpan _secondBegan;
    private int _answersInSecond;

    public void Ask(ImmutableArray<IPEndPoint> targets, TimeSpan wait, Action<EchoesAnswered> completed)
    {
        if (_isClosed || _open.Count >= MaxOpen || targets.Length > 64)
        {
            return;
        }

        var inquiry = new Inquiry(this, targets, wait, completed);
        _open.Add(inquiry);
        inquiry.Try();
    }

    public DropReason OnPacket(in PacketHeader header) => header.Kind == PacketKind.Echo ? Answer(header) : OnReply(header);

    private DropReason OnReply(in PacketHeader reply)
    {
        long number = reply.Sequence - _base;
        if (number < 0 || number >= _sent || number < _sent - Remembered
            || _asked[number % Remembered] is not { Target: { } target, IsFirst: var isFirst })
        {
            return paths.Sizes.OnReply(reply);
        }

        _asked[number % Remembered] = default;

        if (_answered.Count >= Remembered)
        {
            _answered.Clear();
            _answeredFirst.Clear();
        }

        _answered[target] = context.Environment.Now;
        if (isFirst)
        {
            _answeredFirst[target] = context.Environment.Now;
        }

        for (int i = _open.Count - 1; i >= 0; i--)
        {
            _open[i].OnAnswer();
        }

        return DropReason.None;
    }

    private DropReason Answer(in PacketHeader echo)
    {
        if (EchoPacket.ReadAnswerTo(echo.Body) is not { } answerTo)
        {
            return DropReason.Malformed;
        }

        if (!MayAnswer())
        {
            return DropReason.RateLimited;
        }

        if (EchoPacket.ReadFound(echo.Body) is > 0 and var found)
        {
            paths.Sizes.Learn(new NodeKey(echo.Sender, echo.Incarnation), answerTo, found);
        }

        var reply = context.Scratch.FullPacket.AsSpan(0, Math.Min(echo.Length, context.Scratch.FullPacket.Length));
        EchoPacket.WriteReply(reply, context.Template(), echo.Sequence);
        context.SendControl(reply, new DatagramAddress(answerTo));
        context.Counters.EchoesAnswered++;
        return DropReason.None;
    }

    private bool MayAnswer()
    {
        var now = context.Environment.Now;
        if (now - _secondBegan >= TimeSpan.FromSeconds(1))
        {
            _secondBegan = now;
            _answersInSecond = 0;
        }

        return _answersInSecond++ < MaxAnswersPerSecond;
    }

    /// <summary>This node stood still for so long: the replies that came meanwhile are read before an inquiry continues.</summary>
    public void OnPause(TimeSpan length)
    {
        foreach (var inquiry in _open)
        {
            inquiry.OnPause(length);
        }
    }

    public void Close()
    {
        _isClosed = true;
        _open.ForEach(inquiry => inquiry.Cancel());
        _open.Clear();
    }

    private void Send(IPEndPoint target, bool isFirst, bool isSmall)
    {
        var address = new DatagramAddress(target);
        var packet = context.Scratch.FullPacket.AsSpan(0, isSmall ? NodeOptions.MinPacketBytes : paths.Sizes.To(address));
        EchoPacket.Write(packet, context.Template(), _base + _sent, context.ControlPort.LocalEndPoint);
        _asked[_sent % Remembered] = (target, isFirst);
        _sent++;
        context.SendControl(packet, address);
        if (isSmall)
        {
            paths.Sizes.Suspect(address);
        }
    }

    private bool HasAnswered(IPEndPoint target, TimeSpan since) => _answered.TryGetValue(target, out var at) && at >= since;

    private bool HasAnsweredFirst(IPEndPoint target, TimeSpan since) => _answeredFirst.TryGetValue(target, out var at) && at >= since;

    private sealed class Inquiry
    {
        private readonly EchoExchange _exchange;
        private readonly ImmutableArray<IPEndPoint> _targets;
        private readonly TimeSpan _wait;
        private readonly Action<EchoesAnswered> _completed;
        private readonly TimeSpan _begun;
        private readonly Alarm _alarm;
        private int _tries;

        public Inquiry(EchoExchange exchange, ImmutableArray<IPEndPoint> targets, TimeSpan wait, Action<EchoesAnswered> completed)
        {
            _exchange = exchange;
            _targets = targets;
            _wait = wait;
            _completed = completed;
            _begun = exchange.Now;
            _alarm = new Alarm(Try);
        }

        public void Try()
        {
            if (_tries++ == Tries)
            {
                Complete(_begun - _wait);
                return;
            }

            foreach (var target in _targets)
            {
                if (!_exchange.HasAnswered(target, _begun))
                {
                    _exchange.Send(target, isFirst: _tries == 1, isSmall: _tries > Tries / 2);
                }
            }

            _exchange.Schedule(_alarm, _wait / Tries);
        }

        public void OnAnswer()
        {
            foreach (var target in _targets)
            {
                if (!_exchange.HasAnswered(target, _begun))
                {
                    return;
                }
            }

            Complete(_begun);
        }

        public void Cancel() => _exchange.Cancel(_alarm);

        // Not longer than between two tries: the service, which asks, waits too.
        public void OnPause(TimeSpan length) =>
            _exchange.PutOff(_alarm, length < _wait / Tries ? length : _wait / Tries);

        private void Complete(TimeSpan since)
        {
            Cancel();
            _exchange._open.Remove(this);
            ulong any = 0;
            ulong first = 0;
            for (int i = 0; i < _targets.Length; i++)
            {
                any |= _exchange.HasAnswered(_targets[i], since) ? 1UL << i : 0;
                first |= _exchange.HasAnsweredFirst(_targets[i], since) ? 1UL << i : 0;
            }

            _completed(new EchoesAnswered(any, first));
        }
    }

    private TimeSpan Now => context.Environment.Now;

    private void Schedule(Alarm alarm, TimeSpan delay) => context.Environment.Schedule(alarm, delay);

    private void PutOff(Alarm alarm, TimeSpan by) => context.Environment.PutOff(alarm, by);

    private void Cancel(Alarm alarm) => context.Environment.Cancel(alarm);
}
