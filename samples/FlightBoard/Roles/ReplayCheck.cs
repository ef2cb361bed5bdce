namespace FlightBoard.Roles;

// What a subscriber has received against what the file says: for every airport the same departures, each once, in the
// file's order. Thread-safe, for each topic is read by a task of its own.
internal sealed class ReplayCheck
{
    private readonly Lock _lock = new();
    private readonly Dictionary<string, Lane> _lanes;
    private readonly DelayFigures _delays = new();
    private readonly long _expected;
    private long _count;
    private DateTime _clock;
    private string? _fault;

    public ReplayCheck(IReadOnlyList<Departure> expected)
    {
        _expected = expected.Count;
        _lanes = expected.GroupBy(departure => departure.Origin).ToDictionary(group => group.Key, group => new Lane([.. group]));
    }

    public IReadOnlyCollection<string> Origins => _lanes.Keys;

    public bool IsReady { get; set; }

    /// <summary>Whether everything has come, and nothing but that.</summary>
    public bool IsRight
    {
        get
        {
            lock (_lock)
            {
                return _fault is null && _count == _expected;
            }
        }
    }

    public void Add(Departure departure)
    {
        lock (_lock)
        {
            _count++;
            _clock = departure.At > _clock ? departure.At : _clock;
            _delays.Add(departure);
            if (!_lanes.TryGetValue(departure.Origin, out var lane))
            {
                _fault ??= $"{departure} is not followed here";
            }
            else if (lane.Seen == lane.Expected.Count)
            {
                _fault ??= $"{departure} came after all {lane.Seen} of its airport";
            }
            else if (lane.Expected[lane.Seen++] is var next && next != departure)
            {
                _fault ??= $"{departure} came where {next} was due";
            }
        }
    }

    public void Fail(string fault)
    {
        lock (_lock)
        {
            _fault ??= fault;
        }
    }

    public ProcessStatus Take()
    {
        lock (_lock)
        {
            var (origin, minutes) = _delays.Worst();
            return new ProcessStatus
            {
                Phase = _count >= _expected ? Phase.Done : _count > 0 ? Phase.Running : IsReady ? Phase.Ready : Phase.Starting,
                Count = _count,
                Expected = _expected,
                Clock = _clock,
                MeanDelayMinutes = _delays.MeanMinutes,
                WorstOrigin = origin,
                WorstDelayMinutes = minutes,
                Topics = _lanes.Count,
                Fault = _fault,
            };
        }
    }

    private sealed class Lane(List<Departure> expected)
    {
        public IReadOnlyList<Departure> Expected { get; } = expected;

        public int Seen { get; set; }
    }
}
