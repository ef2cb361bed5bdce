using QuickSilver.Multicast.Receiving;
using QuickSilver.Multicast.Repair;

namespace QuickSilver.Simulation.Experiments;

// Follows every lost packet of all nodes from the gap to its arrival.
internal sealed class RepairCollector
{
    private readonly List<double> _millis = [];
    private long _lost;
    private long _asked;
    private long _ofSender;

    public RepairFigures Figures
    {
        get
        {
            _millis.Sort();
            double median = _millis.Count == 0 ? 0 : _millis[_millis.Count / 2];
            long within = _millis.Count(millis => millis <= 2 * median);
            double lost = Math.Max(1, _lost);
            return new RepairFigures(_lost, _asked / lost, median, within / (double)Math.Max(1, _millis.Count), _ofSender / lost);
        }
    }

    /// <summary>How long the slowest repair took.</summary>
    public double WorstMillis => _millis.Count == 0 ? 0 : _millis.Max();

    public IRepairWatch Watch(Func<TimeSpan> now) => new NodeWatch(this, now);

    public void Forget()
    {
        _millis.Clear();
        _lost = _asked = _ofSender = 0;
    }

    private sealed class NodeWatch(RepairCollector all, Func<TimeSpan> now) : IRepairWatch
    {
        private readonly Dictionary<(InboundStream, long), TimeSpan> _missed = [];
        private readonly HashSet<(InboundStream, long)> _ofSender = [];

        public void OnMissed(InboundStream stream, long first, long last)
        {
            all._lost += last - first + 1;
            for (long n = first; n <= last; n++)
            {
                _missed[(stream, n)] = now();
            }
        }

        public void OnAsked(InboundStream stream, long first, long last, bool ofSender)
        {
            for (long n = first; n <= last; n++)
            {
                all._asked++;
                if (ofSender && _ofSender.Add((stream, n)))
                {
                    all._ofSender++;
                }
            }
        }

        public void OnFilled(InboundStream stream, long number)
        {
            _ofSender.Remove((stream, number));
            if (_missed.Remove((stream, number), out var missed))
            {
                all._millis.Add((now() - missed).TotalMilliseconds);
            }
        }
    }
}
