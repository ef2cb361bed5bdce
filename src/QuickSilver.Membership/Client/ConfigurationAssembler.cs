using System.Collections.Immutable;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Client;

// Puts the parts of a configuration together again. Parts come in order on one stream; anything else is an error of the
// stream.
internal sealed class ConfigurationAssembler
{
    // 2 GB at the largest frame: far beyond any cluster, and an end to a service gone mad.
    private const int MaxParts = 512;

    private ConfigurationMessage? _collected;
    private int _nextPart;

    public void Reset() => _collected = null;

    /// <summary>False when the part does not fit; otherwise <paramref name="whole"/> is set once the last part is there.</summary>
    public bool TryAdd(ConfigurationMessage part, out ConfigurationMessage? whole)
    {
        whole = null;
        if (part.Part == 0 && _collected is null)
        {
            _collected = part;
            _nextPart = 0;
        }
        else if (_collected is null || part.Part != _nextPart || part.Number != _collected.Number || part.Part >= MaxParts)
        {
            _collected = null;
            return false;
        }
        else
        {
            _collected.Joined.AddRange(part.Joined);
            _collected.Removed.AddRange(part.Removed);
            _collected.Regions.AddRange(part.Regions);
            _collected.Topics.AddRange(part.Topics);
        }

        _nextPart++;
        if (part.IsLast)
        {
            whole = _collected;
            _collected = null;
        }

        return true;
    }

    public static ConfigurationChange ToChange(ConfigurationMessage message, ulong service, IEnumerable<TopicView> topics) => new()
    {
        Number = message.Number,
        Service = service,
        IsSnapshot = message.IsSnapshot,
        Joined = [.. message.Joined],
        Removed = [.. message.Removed],
        Regions = [.. message.Regions],
        Topics = topics.ToImmutableArray(),
    };
}
