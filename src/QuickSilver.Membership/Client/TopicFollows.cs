using System.Net;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Protocol.Requests;

namespace QuickSilver.Membership.Client;

// The changes of published topics with a prefix. Of several changes of one topic, only the last is reported.
internal readonly record struct TopicNews
{
    public required IReadOnlyList<string> Published { get; init; }
    public required IReadOnlyList<string> Gone { get; init; }
    // Topics that are published and not reported.
    public int Beyond { get; init; }
    // The service has reported all topics that exist.
    public bool IsWhole { get; init; }
}

// One prefix that this node follows. Core thread only.
internal sealed class TopicFollow(string prefix, int most, Action<TopicNews> changed)
{
    private readonly HashSet<string> _known = new(StringComparer.Ordinal);
    // Not null while a service that does not know what was reported reports all topics.
    private HashSet<string>? _coming;

    public string Prefix { get; } = prefix;

    public int Most { get; } = most;

    public ulong Id { get; set; }

    /// <summary>By when the service must have reported all, or more of it. Null: nothing is asked of it, or it has reported all.</summary>
    public TimeSpan? AnswerDue { get; set; }

    /// <summary>Called when a service that is there does not answer, with its address and for how long it was waited for.</summary>
    public Action<IPEndPoint, TimeSpan>? Unanswered { get; init; }

    /// <summary>Null, or what is wrong with the message.</summary>
    public string? OnFollowedTopics(FollowedTopicsMessage message)
    {
        _coming = message.Begins ? new HashSet<string>(StringComparer.Ordinal) : _coming;
        var published = new List<string>();
        foreach (string name in message.Published)
        {
            if (!name.StartsWith(Prefix, StringComparison.Ordinal))
            {
                return $"it reports a topic that does not begin with '{Prefix}'";
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

        // While all topics are reported, those from the earlier service still exist.
        if (_known.Count > (_coming is null ? Most : 2 * Most))
        {
            return $"it reports more than {Most} topics that begin with '{Prefix}'";
        }

        changed(new TopicNews { Published = published, Gone = gone, Beyond = message.Beyond, IsWhole = message.Ends });
        return null;
    }
}

// The deadline for a service to answer a node that follows a prefix.
internal sealed record AnswerLimit(INodeEnvironment Environment, TimeSpan Limit)
{
    /// <summary>The service that has taken this node in; null while there is none. Only one that is there can fail to answer.</summary>
    public required Func<IPEndPoint?> Service { get; init; }
}

// The prefixes that this node follows, across services and connections. A service of a version that knows no prefixes skips the request. So
// when the limit has passed without an answer, callers that wait are notified. Core thread only.
internal sealed class TopicFollows
{
    private readonly SortedDictionary<ulong, TopicFollow> _all = [];
    private readonly Action<FollowTopicsMessage> _send;
    private readonly AnswerLimit? _limit;
    private readonly Alarm _alarm;
    private ulong _lastId;

    /// <param name="send">Sends to the service, if there is one.</param>
    /// <param name="limit">Null: what is asked always answers.</param>
    public TopicFollows(Action<FollowTopicsMessage> send, AnswerLimit? limit = null)
    {
        _send = send;
        _limit = limit;
        _alarm = new Alarm(OnDue);
    }

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
            _send(new FollowTopicsMessage { Id = follow.Id });
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
    public string? OnFollowedTopics(FollowedTopicsMessage message)
    {
        if (!_all.TryGetValue(message.Id, out var follow))
        {
            return null;
        }

        if (message.Ends)
        {
            follow.AnswerDue = null;
        }
        else if (follow.AnswerDue is not null)
        {
            Await(follow);
        }

        return follow.OnFollowedTopics(message);
    }

    /// <summary>The node has ended. Nothing is reported any more.</summary>
    public void Close() => _limit?.Environment.Cancel(_alarm);

    private void Ask(TopicFollow follow)
    {
        _send(new FollowTopicsMessage { Id = follow.Id, Prefix = follow.Prefix, Most = follow.Most });
        Await(follow);
    }

    private void Await(TopicFollow follow)
    {
        if (_limit is { } limit)
        {
            follow.AnswerDue = limit.Environment.Now + limit.Limit;
            Schedule(limit);
        }
    }

    private void Schedule(AnswerLimit limit)
    {
        if (!_alarm.IsPending && _all.Values.Min(static follow => follow.AnswerDue) is { } soonest)
        {
            limit.Environment.Schedule(_alarm, soonest - limit.Environment.Now);
        }
    }

    private void OnDue()
    {
        var limit = _limit!;
        // While there is no service nothing is due: it is asked when there is one again.
        var service = limit.Service();
        foreach (var follow in _all.Values.Where(follow => follow.AnswerDue <= limit.Environment.Now).ToArray())
        {
            follow.AnswerDue = null;
            if (service is not null)
            {
                follow.Unanswered?.Invoke(service, limit.Limit);
            }
        }

        Schedule(limit);
    }
}
