using System.Collections.Immutable;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Protocol.Replies;

// What one part of a configuration says, or several together; never changed, so the nodes of one process share it.
internal sealed class ConfigurationContent
{
    public static readonly ConfigurationContent None = new();

    // The merge of this content and the next one, as the last node has made it. Nodes that get the same content find it.
    private WeakReference<ConfigurationContent>? _continued;
    private ConfigurationContent? _lastAdded;
    private EndedStep? _ended;

    public ImmutableArray<NodeInfo> Joined { get; init; } = [];
    public ImmutableArray<NodeKey> Removed { get; init; } = [];
    public ImmutableArray<RegionView> Regions { get; init; } = [];
    public ImmutableArray<TopicView> Topics { get; init; } = [];
    public ImmutableArray<ulong> OutOfSight { get; init; } = [];
    public ImmutableArray<EndedLife> Ended { get; init; } = [];

    private bool IsEmpty =>
        Joined.IsEmpty && Removed.IsEmpty && Regions.IsEmpty && Topics.IsEmpty && OutOfSight.IsEmpty && Ended.IsEmpty;

    /// <summary>This and then <paramref name="next"/>.</summary>
    public ConfigurationContent With(ConfigurationContent next)
    {
        if (next.IsEmpty)
        {
            return this;
        }

        if (IsEmpty)
        {
            return next;
        }

        if (Volatile.Read(ref _continued) is { } continued && continued.TryGetTarget(out var known) && known._lastAdded == next)
        {
            return known;
        }

        var both = new ConfigurationContent
        {
            Joined = Joined.AddRange(next.Joined),
            Removed = Removed.AddRange(next.Removed),
            Regions = Regions.AddRange(next.Regions),
            Topics = Topics.AddRange(next.Topics),
            OutOfSight = OutOfSight.AddRange(next.OutOfSight),
            Ended = Ended.AddRange(next.Ended),
            _lastAdded = next,
        };
        Volatile.Write(ref _continued, new WeakReference<ConfigurationContent>(both));
        return both;
    }

    /// <summary>The ended lives that a node knows after this. Nodes that knew the same before find the same.</summary>
    public ImmutableArray<EndedLife> EndedAfter(bool isSnapshot, ImmutableArray<EndedLife> known)
    {
        if (isSnapshot)
        {
            return Ended;
        }

        if (Ended.IsEmpty && (known.IsEmpty || Joined.IsEmpty))
        {
            return known;
        }

        if (Volatile.Read(ref _ended) is { } step && step.From == known)
        {
            return step.To;
        }

        var back = new HashSet<NodeKey>(Joined.Select(static node => node.Key));
        EndedLife[] after = [.. known.Where(life => !back.Contains(life.Node)), .. Ended];
        step = new EndedStep(known, [.. after.AsSpan(Math.Max(0, after.Length - EndedLife.Most))]);
        Volatile.Write(ref _ended, step);
        return step.To;
    }

    private sealed record EndedStep(ImmutableArray<EndedLife> From, ImmutableArray<EndedLife> To);
}
