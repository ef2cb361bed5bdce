using QuickSilver.Core.Alarms;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Dissemination;
using QuickSilver.Multicast.Hearing;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Pacing;

namespace QuickSilver.Multicast.Sending;

// Sends the members of a stream its last number, while some packets that were sent are not known to be held or consumed by all.
//
// Intuition: the ring rests when everything is settled, and the acknowledgement of that may have been lost. The window would then stay
// closed because of packets that all members hold, so the sender must ask. Application: it sends announcements to all members, at
// increasing intervals while nothing changes. What goes wrong: if the group reaches no member, none knows that packets were sent, so after
// some unanswered announcements they are also sent to single members. A best-effort stream is never acknowledged: while it sends, its
// members are asked whether they hear it.
internal sealed class Announcements
{
    // After so many unanswered announcements, single members get them too: FirstMembers of them the first time, then NextMembers each
    // time.
    private const int UnansweredUntilUnicast = 3;
    private const int FirstMembers = 32;
    private const int NextMembers = 8;
    // While a best-effort stream sends, so many members per second are asked whether they hear it, because it is never acknowledged.
    private const int BestEffortMembers = 128;
    private static readonly TimeSpan RotationEvery = TimeSpan.FromSeconds(1);

    private readonly SendingParts _parts;
    private readonly RegionSender _stream;
    private readonly IDisseminator _path;
    private readonly PacketTemplate _template;
    private readonly AnnouncementInterval _interval;
    private readonly Alarm _alarm;
    // The announcements since the last acknowledgement.
    private int _unanswered;
    private MemberRotation? _rotation;
    private TimeSpan _rotationAt;

    public Announcements(SendingParts parts, RegionSender stream, IDisseminator path, in PacketTemplate template)
    {
        _parts = parts;
        _stream = stream;
        _path = path;
        _template = template;
        _interval = new AnnouncementInterval(Context.Options.AnnounceAfter, Context.Options.AnnounceMax);
        _alarm = new Alarm(Announce);
    }

    public bool IsDue => _alarm.IsPending;

    private NodeContext Context => _parts.Node;

    private MemberRotation Rotation => _rotation ??= new MemberRotation(Context, _stream.View);

    /// <summary>
    /// Schedules an announcement after packets were sent, which happens unless more is sent or everything is acknowledged.
    /// </summary>
    public void Start() => Context.Environment.Schedule(_alarm, _interval.First());

    /// <summary>Announces now, and continues with the shortest interval.</summary>
    public void StartNow()
    {
        _interval.First();
        Announce();
    }

    /// <summary>Stops, because everything is known to be held and consumed.</summary>
    public void Rest() => Context.Environment.Cancel(_alarm);

    public void OnSent(long through, TimeSpan now) => _interval.OnSent(through, now);

    public void OnAnswered() => _unanswered = 0;

    public void OnAcknowledged(long through, TimeSpan now) => _interval.OnAcknowledged(through, now);

    public void SendToAll()
    {
        Span<byte> packet = stackalloc byte[PacketHeader.Bytes];
        Write(packet);
        _path.Spread(packet);
    }

    public void SendTo(NodeKey member)
    {
        if (Context.Directory.Find(member) is { } address)
        {
            Span<byte> packet = stackalloc byte[PacketHeader.Bytes];
            Write(packet);
            Context.SendControl(packet, address);
        }
    }

    /// <summary>Called when a best-effort stream has sent packets.</summary>
    public void CheckHearing()
    {
        var now = Context.Environment.Now;
        if (_path.UsesGroup && Context.Options.CopiesToDeaf && now >= _rotationAt)
        {
            _rotationAt = now + RotationEvery;
            Rotation.Check(_parts.Deaf, BestEffortMembers);
        }
    }

    private void Announce()
    {
        if (!_stream.AwaitsNews)
        {
            return;
        }

        Context.OnWait();
        if (_stream.IsReliable && _stream.Acknowledged < _stream.Through.Sent)
        {
            _parts.Schemes.Suspicions.ReportIfSilent(_stream.Live, _stream.View, _stream.Silence);
        }

        _stream.CheckPaths();
        Span<byte> packet = stackalloc byte[PacketHeader.Bytes];
        Write(packet);
        _path.Spread(packet);
        if (_stream.IsReliable && _path.UsesGroup && ++_unanswered >= UnansweredUntilUnicast)
        {
            Rotation.Send(packet, _unanswered == UnansweredUntilUnicast ? FirstMembers : NextMembers);
        }

        Context.Environment.Schedule(_alarm, _interval.Next());
    }

    private void Write(Span<byte> packet)
    {
        var flags = _stream.HasSentAll ? PacketFlags.Final : PacketFlags.None;
        _template.Write(packet, PacketKind.Announce, flags, _stream.Through.Sent, 0, 0);
        PacketTemplate.Seal(packet);
    }
}
