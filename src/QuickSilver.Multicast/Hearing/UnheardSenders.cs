using QuickSilver.Core.Alarms;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Hearing;

// The member's side of hearing: the senders that this member does not hear over a region's group. An entry is created only when a unicast
// packet arrives while the group is silent, so there are no entries and no questions while multicast works.
internal sealed class UnheardSenders
{
    // A limit on the entries. Pairs of region and sender beyond it get no copies: repairs serve them.
    private const int MostEntries = 1 << 14;
    // The delay before the first question. Packets over the group that a unicast packet has overtaken arrive meanwhile, and the members of
    // a region do not ask at the same moment.
    private static readonly TimeSpan LeastGrace = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan GraceSpread = TimeSpan.FromMilliseconds(50);
    private static readonly TimeSpan GracePerMember = TimeSpan.FromMicroseconds(40);
    private static readonly TimeSpan MostGrace = TimeSpan.FromMilliseconds(400);

    // Stands for the table while all senders are heard, which is the rule. All nodes of a process share it, and none writes to it.
    private static readonly Dictionary<(ulong Region, NodeKey Sender), Entry> NoEntries = [];

    private readonly NodeContext _context;
    private readonly HearingReport _report;
    private Dictionary<(ulong Region, NodeKey Sender), Entry> _entries = NoEntries;

    public UnheardSenders(NodeContext context, HearingReport report)
    {
        _context = context;
        _report = report;
        report.UnheardSenders = this;
    }

    public bool IsEmpty => _entries.Count == 0;

    /// <summary>A unicast packet of the sender arrived, and its group has been silent for a while.</summary>
    public void OnSilent(RegionView view, NodeKey sender, bool mayHear) => FindOrAdd(view, sender, mayHear);

    /// <summary>A packet of the sender came over the group.</summary>
    public void OnHeard(ulong region, NodeKey sender)
    {
        if (_entries.TryGetValue((region, sender), out var entry))
        {
            bool wasDeaf = entry.Hearing.IsDeaf;
            Wake(entry, wasDeaf, entry.Hearing.OnHeard(_context.Environment.Now));
        }
    }

    /// <summary>A probe came over the group.</summary>
    public void OnProbe(RegionView view, NodeKey sender, long number)
    {
        if (_entries.TryGetValue((view.RegionId, sender), out var entry))
        {
            entry.View = view;
            bool wasDeaf = entry.Hearing.IsDeaf;
            Wake(entry, wasDeaf, entry.Hearing.OnProbe(number, _context.Environment.Now));
        }
    }

    /// <summary>The sender answered by unicast.</summary>
    public void OnAnswer(RegionView view, NodeKey sender, HearingWord word, bool mayHear)
    {
        var entry = word == HearingWord.Served ? FindOrAdd(view, sender, mayHear) : _entries.GetValueOrDefault((view.RegionId, sender));
        if (entry is not null)
        {
            entry.View = view;
            bool wasDeaf = entry.Hearing.IsDeaf;
            Wake(entry, wasDeaf, entry.Hearing.OnAnswer(word));
        }
    }

    public void ForgetSender(NodeKey sender) => Forget(entry => entry.Sender == sender);

    /// <summary>The view is closed here. Its entries continue with another view of the region, if one is open.</summary>
    public void OnViewClosed(RegionView view, RegionView? other)
    {
        if (other is null)
        {
            Forget(entry => entry.View.RegionId == view.RegionId);
            return;
        }

        foreach (var entry in _entries.Values)
        {
            entry.View = entry.View.RegionId == view.RegionId && entry.View.Number == view.Number ? other : entry.View;
        }
    }

    public void Close() => Forget(static _ => true);

    /// <summary>
    /// The number of senders that are not heard, and one of them with its view. The same set always gives the same sender.
    /// </summary>
    public (int Count, NodeKey Sender, RegionView? View) Silent()
    {
        var senders = new SortedDictionary<NodeKey, RegionView>();
        foreach (var entry in _entries.Values)
        {
            // Where groups are not used, none is heard by choice.
            if (entry.Hearing.IsDeaf && _report.Deaf!.UsesGroup(entry.View)
                && (!senders.TryGetValue(entry.Sender, out var known) || entry.View.RegionId < known.RegionId))
            {
                senders[entry.Sender] = entry.View;
            }
        }

        foreach (var (sender, view) in senders)
        {
            return (senders.Count, sender, view);
        }

        return default;
    }

    private Entry? FindOrAdd(RegionView view, NodeKey sender, bool mayHear)
    {
        var key = (view.RegionId, sender);
        if (_entries.TryGetValue(key, out var entry))
        {
            entry.View = view;
            return entry;
        }

        if (_entries.Count >= MostEntries)
        {
            return null;
        }

        entry = new Entry(this, view, sender, mayHear);
        _entries = ReferenceEquals(_entries, NoEntries) ? [] : _entries;
        _entries.Add(key, entry);
        _context.Environment.Schedule(entry.Alarm, mayHear ? Grace(view) : LeastGrace);
        return entry;
    }

    private TimeSpan Grace(RegionView view)
    {
        var spread = GraceSpread + (GracePerMember * view.Members.Length);
        spread = spread < MostGrace ? spread : MostGrace;
        return LeastGrace + TimeSpan.FromTicks(_context.RandomBelow((int)spread.Ticks));
    }

    private void Wake(Entry entry, bool wasDeaf, TimeSpan? delay)
    {
        if (delay is { } due)
        {
            _context.Environment.Schedule(entry.Alarm, due);
        }

        NoteChange(entry, wasDeaf);
    }

    private void NoteChange(Entry entry, bool wasDeaf)
    {
        if (entry.Hearing.IsDeaf != wasDeaf)
        {
            _report.OnChange();
        }
    }

    private void OnDue(Entry entry)
    {
        bool wasDeaf = entry.Hearing.IsDeaf;
        var (say, again) = entry.Hearing.OnDue();
        if (say is { } word && _context.Directory.Find(entry.Sender) is { } address)
        {
            Span<byte> packet = stackalloc byte[HearingNotice.Bytes];
            new HearingNotice(entry.Sender, word).Write(packet, _context.Template(entry.View), entry.Hearing.LastProbe);
            _context.SendControl(packet, address);
        }

        if (again is { } delay)
        {
            _context.Environment.Schedule(entry.Alarm, delay);
        }
        else
        {
            _entries.Remove((entry.View.RegionId, entry.Sender));
        }

        NoteChange(entry, wasDeaf);
    }

    private void Forget(Predicate<Entry> isMeant)
    {
        if (_entries.Count == 0)
        {
            return;
        }

        foreach (var (key, entry) in _entries.ToArray())
        {
            if (isMeant(entry))
            {
                _context.Environment.Cancel(entry.Alarm);
                _entries.Remove(key);
                NoteChange(entry, wasDeaf: false);
            }
        }
    }

    private sealed class Entry
    {
        public Entry(UnheardSenders owner, RegionView view, NodeKey sender, bool mayHear)
        {
            View = view;
            Sender = sender;
            Hearing = new GroupHearing(mayHear);
            Alarm = new Alarm(() => owner.OnDue(this));
        }

        // The newest view in which the sender was silent or sent an answer.
        public RegionView View { get; set; }
        public NodeKey Sender { get; }
        public GroupHearing Hearing { get; }
        public Alarm Alarm { get; }
    }
}
