using QuickSilver.Multicast.Schemes;

namespace QuickSilver.Simulation.Experiments;

// Follows every lost packet of all nodes from the gap to its arrival, and those of one node by themselves too.
internal sealed class RepairCollector
{
    private readonly List<double> _millis = [];
    private long _asked;
    private long _ofSender;

    /// <summary>Packets that a member found missing.</summary>
    public long Lost { get; private set; }

    public RepairFigures Figures
    {
        get
        {
            _millis.Sort();
            double median = _millis.Count == 0 ? 0 : _millis[_millis.Count / 2];
            double within = _millis.Count(millis => millis <= 2 * median) / (double)Math.Max(1, _millis.Count);
            double lost = Math.Max(1, Lost);
            return new RepairFigures(Lost, _asked / lost, median, MeanMillis, within, _ofSender / lost);
        }
    }

    /// <summary>How long the slowest repair took.</summary>
    public double WorstMillis => _millis.Count == 0 ? 0 : _millis.Max();

    public double MeanMillis => _millis.Count == 0 ? 0 : _millis.Average();

    /// <param name="now">The time.</param>
    /// <param name="alone">Gets what is collected of this node alone.</param>
    public IRepairWatch Watch(Func<TimeSpan> now, RepairCollector? alone = null) =>
        new NodeWatch(alone is null ? [this] : [this, alone], now);

    public void Forget()
    {
        _millis.Clear();
        Lost = _asked = _ofSender = 0;
    }

    private sealed class NodeWatch(RepairCollector[] collectors, Func<TimeSpan> now) : IRepairWatch
    {
        private readonly Dictionary<(IStreamOfMember, long), TimeSpan> _missed = [];
        private readonly HashSet<(IStreamOfMember, long)> _ofSender = [];

        public void OnMissed(IStreamOfMember stream, long first, long last)
        {
            foreach (var collector in collectors)
            {
                collector.Lost += last - first + 1;
            }

            for (long n = first; n <= last; n++)
            {
                _missed[(stream, n)] = now();
            }
        }

        public void OnAsked(IStreamOfMember stream, long first, long last, bool ofSender)
        {
            for (long n = first; n <= last; n++)
            {
                bool isFirst = ofSender && _ofSender.Add((stream, n));
                foreach (var collector in collectors)
                {
                    collector._asked++;
                    collector._ofSender += isFirst ? 1 : 0;
                }
            }
        }

        public void OnFilled(IStreamOfMember stream, long number)
        {
            _ofSender.Remove((stream, number));
            if (_missed.Remove((stream, number), out var missed))
            {
                foreach (var collector in collectors)
                {
                    collector._millis.Add((now() - missed).TotalMilliseconds);
                }
            }
        }
    }
}
