using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Service.Takeover;

// The lives that are over: those that this service has ended, and those that earlier services have, as the members report when they
// return. Members are notified of those that any of them has known, and report them to the next service, so that a change of the leader
// brings no removed node back as it was (I10).
//
// Bounded, however many lives come and go: the oldest are forgotten. Reports of nodes displace little of what this service knows.
internal sealed class EndedLives(ulong service)
{
    public const int MostKept = 16_384;
    private const int MostReported = 2 * EndedLife.Most;
    // Until the configuration that says so is made.
    private const long NotAnnounced = long.MaxValue;

    private readonly Dictionary<NodeKey, Ended> _all = [];
    private readonly Queue<Ended> _order = new();
    private readonly List<Ended> _unannounced = [];
    private readonly List<EndedLife> _announced = [];
    private int _reported;

    /// <summary>A life that is over, and why.</summary>
    internal sealed record Ended(EndedLife Life, string Reason);

    /// <summary>Those of which the configuration that is being made notifies the members.</summary>
    public IReadOnlyList<EndedLife> News { get; private set; } = [];

    /// <summary>The newest of which the members are notified, with the news.</summary>
    public IReadOnlyList<EndedLife> Announced => _announced;

    public Ended? Find(NodeKey node) => _all.GetValueOrDefault(node);

    /// <summary>This service ends a life.</summary>
    /// <param name="node">The node.</param>
    /// <param name="reason">Why.</param>
    /// <param name="knownFrom">
    /// Where it came from, if members knew it and it may return; null: no other node has to know that it is over.
    /// </param>
    public void Add(NodeKey node, string reason, Origin? knownFrom)
    {
        var ended = new Ended(new EndedLife(node, service, NotAnnounced, knownFrom ?? default), reason);
        if (TryKeep(ended) && knownFrom is not null)
        {
            _unannounced.Add(ended);
        }
    }

    /// <summary>A node reports a life that an earlier service has ended.</summary>
    public void Learn(EndedLife life)
    {
        string reason = $"the membership service removed it (configuration {life.Number}) before another one took over";
        var ended = new Ended(life, reason);
        if (_reported < MostReported && TryKeep(ended))
        {
            _reported++;
            _unannounced.Add(ended);
        }
    }

    /// <summary>The node is a member again, with the same life.</summary>
    public void OnTakenBack(NodeKey node)
    {
        if (_all.Remove(node))
        {
            _unannounced.RemoveAll(ended => ended.Life.Node == node);
            _announced.RemoveAll(life => life.Node == node);
        }
    }

    /// <summary>The configuration of this number is made: it names what no configuration has named yet.</summary>
    public void OnMade(long number)
    {
        List<EndedLife> news = [.. _unannounced.Skip(_unannounced.Count - EndedLife.Most).Select(ended => Numbered(ended.Life, number))];
        _unannounced.Clear();
        _announced.AddRange(news);
        _announced.RemoveRange(0, Math.Max(0, _announced.Count - EndedLife.Most));
        News = news;
    }

    private static EndedLife Numbered(EndedLife life, long number) => life.Number == NotAnnounced ? life with { Number = number } : life;

    private bool TryKeep(Ended ended)
    {
        if (!_all.TryAdd(ended.Life.Node, ended))
        {
            return false;
        }

        _order.Enqueue(ended);
        if (_order.Count > MostKept)
        {
            var oldest = _order.Dequeue();
            if (ReferenceEquals(Find(oldest.Life.Node), oldest))
            {
                _all.Remove(oldest.Life.Node);
            }
        }

        return true;
    }
}
