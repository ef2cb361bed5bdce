using System.Collections.Immutable;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Client;

// Puts the parts of a configuration together again. Parts come in order on one stream; anything else is an error of the
// stream.
internal sealed class ConfigurationAssembler
{
    // 256 MB at the size at which the service cuts: far beyond any cluster, and an end to a service gone mad.
    private const int MaxParts = 4096;

    private ConfigurationMessage? _first;
    private ConfigurationContent _content = ConfigurationContent.None;
    private int _nextPart;

    public void Reset()
    {
        _first = null;
        _content = ConfigurationContent.None;
    }

    /// <summary>False when the part does not fit; otherwise <paramref name="whole"/> is set once the last part is there.</summary>
    public bool TryAdd(ConfigurationMessage part, out ConfigurationMessage? whole)
    {
        whole = null;
        if (part.Part == 0 && _first is null)
        {
            _first = part;
            _nextPart = 0;
        }
        else if (_first is null || part.Part != _nextPart || part.Number != _first.Number || part.Part >= MaxParts)
        {
            Reset();
            return false;
        }

        _content = _content.With(part.Content);
        _nextPart++;
        if (part.IsLast)
        {
            whole = new ConfigurationMessage
            {
                Number = _first.Number,
                Previous = _first.Previous,
                IsSnapshot = _first.IsSnapshot,
                IsLast = true,
                LastRequest = part.LastRequest,
                ClusterKey = part.ClusterKey,
                Content = _content,
            };
            Reset();
        }

        return true;
    }

    public static ConfigurationChange ToChange(ConfigurationMessage message, ulong service, ImmutableArray<TopicView> topics) => new()
    {
        Number = message.Number,
        Service = service,
        IsSnapshot = message.IsSnapshot,
        Joined = message.Content.Joined,
        Removed = message.Content.Removed,
        Regions = message.Content.Regions,
        Topics = topics,
        OutOfSight = message.Content.OutOfSight,
        ClusterKey = message.ClusterKey,
    };
}
