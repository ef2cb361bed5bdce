using QuickSilver.Core.Alarms;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Dissemination;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Sending.Packing;
using QuickSilver.Multicast.Sending.Shared;

namespace QuickSilver.Multicast.Sending;

// Sends the packets of one outbound stream for the first time: in their order, in runs of adjacent ones, as far as the window allows, and
// not before the members had time to open the view. It tries again to send what it cannot send now, unless
// only an acknowledgement opens the window.
//
// Invariant: what the path has under way are the first packets after those that were sent, and nothing else goes before them.
internal sealed class RunTransmitter
{
    private static readonly TimeSpan BusyPause = TimeSpan.FromMilliseconds(1);

    private readonly NodeContext _context;
    private readonly ITransmittedStream _stream;
    private readonly IDisseminator _path;
    private readonly RetentionBuffer _packets;
    private readonly SendWindow _window;
    private readonly PacketTemplate _template;
    private readonly int _mostInRun;
    private readonly Alarm _resumeAlarm;
    private readonly TimeSpan _opensAt;
    private bool _isOpen;
    // Whether nothing can be sent before the alarm, whatever the window allows: the view is too new, or the system has no room.
    private bool _isHeld;
    private bool _isClosed;
    // The packets of the run that the path has under way.
    private int _underWay;

    public RunTransmitter(
        SendingParts parts, ITransmittedStream stream, IDisseminator path, RetentionBuffer packets, SendWindow window,
        in PacketTemplate template)
    {
        var context = parts.Node;
        _context = context;
        _stream = stream;
        _path = path;
        _packets = packets;
        _window = window;
        _template = template;
        _mostInRun = parts.PacketsInRun(context.Options.PacketBytes);
        _resumeAlarm = new Alarm(Resume);
        _opensAt = context.Environment.Now + context.Options.ReconfigurationPause;
        path.OnRoom = OnRoom;
    }

    // What goes out in one call, and what a block of packet memory holds.
    public int RunPackets => Math.Min(_path.MaxRunSegments, _mostInRun);

    // What a full run has, also where each packet goes out by itself.
    public int PackedPackets => _mostInRun;

    /// <summary>Whether the window alone decides whether something may be sent now.</summary>
    public bool IsFree => _isOpen && !_isHeld && !_path.IsUnderWay;

    /// <summary>Why a turn could send nothing.</summary>
    public StreamLimit Limit => !_isHeld ? _window.LimitAt(_context.Environment.Now, RunPackets)
        : _isOpen ? StreamLimit.Socket
        : StreamLimit.View;

    /// <summary>
    /// Whether a turn could send something. If not, the stream is notified when one can, unless it takes an acknowledgement.
    /// </summary>
    public bool AwaitOpen()
    {
        if (_isHeld)
        {
            return false;
        }

        var now = _context.Environment.Now;
        if (_path.IsUnderWay || _window.NextOf(now, RunPackets) > 0)
        {
            return true;
        }

        if (!_resumeAlarm.IsPending && _window.TimeUntilRoom(now, RunPackets) is var delay && delay < TimeSpan.MaxValue)
        {
            _context.Environment.Schedule(_resumeAlarm, delay);
        }

        return false;
    }

    /// <summary>
    /// Sends one run of the packets up to there, if the window allows. False: the view is too new to send anything.
    /// </summary>
    public bool TrySendRun(long through)
    {
        if (!_isOpen && !TryOpen())
        {
            return false;
        }

        long waiting = Math.Min(RunPackets, through - _window.Sent);
        long next = _path.IsUnderWay ? _underWay : _window.NextOf(_context.Environment.Now, waiting);
        if (next > 0)
        {
            SendRun((int)next);
        }

        return true;
    }

    public void Close()
    {
        _isClosed = true;
        _context.Environment.Cancel(_resumeAlarm);
        _path.Close();
    }

    private bool TryOpen()
    {
        var left = _opensAt - _context.Environment.Now;
        if (left > TimeSpan.Zero)
        {
            HoldFor(left);
            return false;
        }

        _isOpen = true;
        return true;
    }

    private void SendRun(int most)
    {
        var (count, bytes) = _packets.RunFrom(_window.Sent + 1, most);
        ref var head = ref _packets[_window.Sent + 1];
        var run = head.IsShared
            ? new DataRun(_context.Scratch.Of<SharedCopies>().Of(_packets, _window.Sent + 1, count, _template), head.Length, null, 0)
            : new DataRun(head.Lease!.Span.Slice(head.Offset, bytes), head.Length, head.Lease, head.Offset);
        var outcome = _path.Send(run);
        if (outcome == SendOutcome.Busy)
        {
            _underWay = count;
            _context.Counters.BusySends++;
            HoldFor(BusyPause);
            return;
        }

        if (outcome == SendOutcome.Refused)
        {
            _context.Counters.RefusedSends++;
            _stream.OnRefused();
        }

        _window.OnSent(_context.Environment.Now, count);
        _context.Counters.PacketsSent += count;
        _context.Counters.BytesSent += bytes;
        _stream.OnSent(count);
    }

    private void HoldFor(TimeSpan delay)
    {
        if (!_isHeld)
        {
            _isHeld = true;
            _context.Environment.Schedule(_resumeAlarm, delay);
        }
    }

    private void OnRoom()
    {
        // The path may report room as late as it likes, also while it is closed.
        if (_isHeld && _isOpen && !_isClosed)
        {
            _context.Environment.Cancel(_resumeAlarm);
            Resume();
        }
    }

    private void Resume()
    {
        _isHeld = false;
        _stream.OnMaySend();
    }
}

// Whose packets a transmitter sends.
internal interface ITransmittedStream
{
    /// <summary>The next so many packets went out; the window knows.</summary>
    void OnSent(int packets);

    /// <summary>Something could not be sent, and perhaps can now although no acknowledgement came.</summary>
    void OnMaySend();

    /// <summary>The system refused to send.</summary>
    void OnRefused();
}
