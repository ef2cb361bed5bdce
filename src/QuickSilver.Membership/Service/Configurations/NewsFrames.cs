using System.Diagnostics.CodeAnalysis;
using QuickSilver.Membership.Regions;
using QuickSilver.Membership.Service.Quotas;

namespace QuickSilver.Membership.Service.Configurations;

// The news of regions and topics in one configuration, framed once for all members that get the same.
internal sealed class NewsFrames
{
    private readonly Dictionary<News, (SharedFrames Frames, int NextPart)> _written = new(NewsComparer.Instance);

    internal readonly record struct News(int FirstPart, bool IsSnapshot, RegionNews Of);

    public bool TryFind(in News news, out (SharedFrames Frames, int NextPart) frames) => _written.TryGetValue(news, out frames);

    /// <summary>The lists are the caller's, and copied.</summary>
    public void Keep(in News news, SharedFrames frames, int nextPart) =>
        _written.Add(news with { Of = new([.. news.Of.Regions], [.. news.Of.Topics], [.. news.Of.OutOfSight]) }, (frames, nextPart));

    public void Clear()
    {
        _written.Clear();
        _written.TrimExcess();
    }

    private sealed class NewsComparer : IEqualityComparer<News>
    {
        public static readonly NewsComparer Instance = new();

        public bool Equals(News one, News other) => one.FirstPart == other.FirstPart
            && one.IsSnapshot == other.IsSnapshot
            && one.Of.Regions.SequenceEqual(other.Of.Regions)
            && one.Of.Topics.SequenceEqual(other.Of.Topics)
            && one.Of.OutOfSight.SequenceEqual(other.Of.OutOfSight);

        public int GetHashCode([DisallowNull] News news)
        {
            var hash = new HashCode();
            hash.Add(news.FirstPart);
            foreach (var region in news.Of.Regions)
            {
                hash.Add(region.RegionId);
            }

            foreach (var topic in news.Of.Topics)
            {
                hash.Add(topic.TopicId);
            }

            return hash.ToHashCode();
        }
    }
}
