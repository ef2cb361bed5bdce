using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Protocol.Requests;

namespace QuickSilver.Membership.Client;

// What changed of the topics with a prefix that somebody publishes. Of several changes of one topic the last is told.
internal readonly record struct TopicNews
{
    public required IReadOnlyList<string> Published { get; init; }
    public required IReadOnlyList<string> Gone { get; init; }
    // Topics that are published and not told.
    public int Beyond { get; init; }
    // The service has told all that there are.
    public bool IsWhole { get; init; }
}

// One prefix that this node follows. Core thread only.
internal sealed class TopicFollow(string prefix, int most, Action<TopicNews> told)
{
    private readonly HashSet<string> _known = new(StringComparer.Ordinal);
    // While a service that does not know what was told tells all. Null otherwise.
    private HashSet<string>? _coming;

    public string Prefix { get; } = prefix;

    public int Most { get; } = most;

    public ulong Id { get; set; }

    /// <summary>Null, or what is wrong with the message.</summary>
    public string? OnTold(FollowedTopicsMessage message)
    {
        _coming = message.Begins ? new HashSet<string>(StringComparer.Ordinal) : _coming;
        var published = new List<string>();
        foreach (string name in message.Published)
        {
            if (!name.StartsWith(Prefix, StringComparison.Ordinal))
            {
                return $"it tells of a topic that does not begin with '{Prefix}'";
            }

            _coming?.Add(name);
            if (_known.Add(name))
            {
                published.Add(name);
            }
        }

        var gone = message.Gone.Where(_known.Remove).ToList();
        if (message.Ends && _coming is { } all)
        {
            gone.AddRange(_known.Where(name => !all.Contains(name)).Order(StringComparer.Ordinal));
            gone.ForEach(name => _known.Remove(name));
            _coming = null;
        }

        // While all are told, those of the service before are still there.
        if (_known.Count > (_coming is null ? Most : 2 * Most))
        {
            return $"it tells of more than {Most} topics that begin with '{Prefix}'";
        }

        told(new TopicNews { Published = published, Gone = gone, Beyond = message.Beyond, IsWhole = message.Ends });
        return null;
    }
}

// The prefixes that this node follows, across services and connections. Core thread only.
internal sealed class TopicFollows(Action<FollowTopicsMessage> send)
{
    private readonly SortedDictionary<ulong, TopicFollow> _all = [];
    private ulong _lastId;

    /// <summary>Begins to follow. False: there are <see cref="FollowTopicsMessage.MostPerMember"/> already.</summary>
    public bool TryAdd(TopicFollow follow)
    {
        if (_all.Count >= FollowTopicsMessage.MostPerMember)
        {
            return false;
        }

        follow.Id = ++_lastId;
        _all.Add(follow.Id, follow);
        Ask(follow);
        return true;
    }

    public void Remove(TopicFollow follow)
    {
        if (_all.Remove(follow.Id))
        {
            send(new FollowTopicsMessage { Id = follow.Id });
        }
    }

    /// <summary>A service has taken this node in, and is asked for all.</summary>
    public void AskAgain()
    {
        foreach (var follow in _all.Values)
        {
            Ask(follow);
        }
    }

    /// <summary>Null, or what is wrong with the message. One for a prefix that is not followed any more is dropped.</summary>
    public string? OnTold(FollowedTopicsMessage message) => _all.GetValueOrDefault(message.Id)?.OnTold(message);

    private void Ask(TopicFollow follow) =>
        send(new FollowTopicsMessage { Id = follow.Id, Prefix = follow.Prefix, Most = follow.Most });
}
