using QuickSilver.Core.Alarms;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Dissemination;
using QuickSilver.Multicast.Hearing;
using QuickSilver.Multicast.Pacing;

namespace QuickSilver.Multicast.Sending;

// How a stream tells its members its last number, while something that was sent is not known to be held, or not to be taken, by all.
//
// Intuition: the ring rests when all is well, and the acknowledgement that said so may have been lost; the window would stay closed on what
// was held long ago, so it must be asked for. Application: an announcement to all, at a pace that slows down while nothing changes. What
// goes wrong: the group reaches nobody, and then nobody knows that anything was sent; so after some without an answer they go to single
// members too. Nobody answers for a best-effort stream: while it sends, its members are asked whether they hear it.
internal sealed class Announcements
{
    // Announcements that nobody answers until they go to single members too: so many at first, and ever so many then.
    private const int UnansweredUntilUnicast = 3;
    private const int FirstRound = 32;
    private const int NextRound = 8;
    // A best-effort stream is never answered: while it sends, that many members a second are asked whether they hear it.
    private const int BestEffortRound = 128;
    private static readonly TimeSpan RoundEvery = TimeSpan.FromSeconds(1);

    private readonly MulticastContext _context;
    private readonly RegionSender _stream;
    private readonly IDisseminator _path;
    private readonly PacketTemplate _template;
    private readonly AnnouncePace _pace;
    private readonly Alarm _alarm;
    // Since the last acknowledgement.
    private int _unanswered;
    private MemberRound? _round;
    private TimeSpan _roundAt;

    public Announcements(MulticastContext context, RegionSender stream, IDisseminator path, in PacketTemplate template)
    {
        _context = context;
        _stream = stream;
        _path = path;
        _template = template;
        _pace = new AnnouncePace(context.Options.AnnounceAfter, context.Options.AnnounceMax);
        _alarm = new Alarm(Announce);
    }

    public bool IsDue => _alarm.IsPending;

    private MemberRound Round => _round ??= new MemberRound(_context, _stream.View);

    /// <summary>Something was sent: announced after a while, unless more is sent or all is acknowledged.</summary>
    public void Start() => _context.Environment.Schedule(_alarm, _pace.First());

    /// <summary>Announces now, and goes on from the quickest pace.</summary>
    public void StartNow()
    {
        _pace.First();
        Announce();
    }

    /// <summary>All is known to be held and taken.</summary>
    public void Rest() => _context.Environment.Cancel(_alarm);

    public void OnSent(long through, TimeSpan now) => _pace.OnSent(through, now);

    public void OnAnswered() => _unanswered = 0;

    public void OnAcknowledged(long through, TimeSpan now) => _pace.OnAcknowledged(through, now);

    public void SendToAll()
    {
        Span<byte> packet = stackalloc byte[PacketHeader.Bytes];
        Write(packet);
        _path.Spread(packet);
    }

    public void SendTo(DatagramAddress member)
    {
        Span<byte> packet = stackalloc byte[PacketHeader.Bytes];
        Write(packet);
        _context.SendControl(packet, member);
    }

    /// <summary>A best-effort stream has sent.</summary>
    public void CheckHearing()
    {
        var now = _context.Environment.Now;
        if (_path.UsesGroup && _context.Options.CopiesToDeaf && now >= _roundAt)
        {
            _roundAt = now + RoundEvery;
            Round.Check(_context.Deaf, BestEffortRound);
        }
    }

    private void Announce()
    {
        if (!_stream.AwaitsNews)
        {
            return;
        }

        _context.OnWait();
        _stream.SuspectIfSilent();
        Span<byte> packet = stackalloc byte[PacketHeader.Bytes];
        Write(packet);
        _path.Spread(packet);
        if (_stream.IsReliable && _path.UsesGroup && ++_unanswered >= UnansweredUntilUnicast)
        {
            Round.Send(packet, _unanswered == UnansweredUntilUnicast ? FirstRound : NextRound);
        }

        _context.Environment.Schedule(_alarm, _pace.Next());
    }

    private void Write(Span<byte> packet)
    {
        var flags = _stream.HasSentAll ? PacketFlags.Final : PacketFlags.None;
        _template.Write(packet, PacketKind.Announce, flags, _stream.Through.Sent, 0, 0);
        PacketTemplate.Seal(packet);
    }
}
