using System.Collections.Immutable;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Client;

// What this node has open or has requested, so that it can be requested again when the service or its state is lost.
internal sealed class TopicTable
{
    private readonly Dictionary<ulong, OpenTopic> _topics = [];
    private readonly Dictionary<ulong, Ask> _asks = [];
    // By pinned topic, the configuration since which this node is a member. Null before the first: few topics are pinned.
    private Dictionary<ulong, long>? _memberSince;
    private ulong _lastRequest;
    // Callbacks that wait until the service has applied all that was requested. Null until there is one.
    private List<(ulong Request, Action<long> Callback)>? _applications;

    private ImmutableArray<ulong> _lastRegions;

    private sealed class OpenTopic(ulong openedBy)
    {
        // The request that opened it: views from before are of an earlier opening.
        public readonly ulong OpenedBy = openedBy;
        public TopicRequest? Granted;
        // Null while nothing is asked for, which is nearly always.
        public List<Ask>? Waiting;
        // A view of it has come.
        public bool HasView;
        // The last view names all regions of the topic.
        public bool IsRouted;
        // The request that subscribed; none while the last one does not. Views from before are of an earlier subscription.
        public ulong SubscribedBy = ulong.MaxValue;
        // The regions of its last view, while that is one to which this node subscribes; default otherwise.
        public ImmutableArray<ulong> Regions;
    }

    // Completed is null when a topic that was granted before is registered again.
    private sealed record Ask(ulong RequestId, OpenTopic Topic, TopicRequest Request, Action<TopicOutcome>? Completed);

    public int Count => _topics.Count;

    /// <summary>Calls back when a configuration was made that knows all requests until now.</summary>
    public void WhenApplied(Action<long> callback) => (_applications ??= []).Add((_lastRequest, callback));

    /// <summary>A configuration was applied that the service made when it knew of requests up to this one.</summary>
    public void OnApplied(long configuration, ulong lastRequest)
    {
        var known = _applications?.FindAll(one => one.Request <= lastRequest);
        _applications?.RemoveAll(one => one.Request <= lastRequest);
        foreach (var (_, callback) in known ?? [])
        {
            callback(configuration);
        }
    }

    public SetTopicMessage Open(TopicRequest request, Action<TopicOutcome> completed)
    {
        ulong id = ++_lastRequest;
        if (!_topics.TryGetValue(request.TopicId, out var topic))
        {
            topic = new OpenTopic(id);
            _topics.Add(request.TopicId, topic);
        }

        if (!request.Role.HasFlag(TopicRole.Subscribe))
        {
            topic.SubscribedBy = ulong.MaxValue;
            topic.Regions = default;
            _memberSince?.Remove(request.TopicId);
        }
        else if (topic.SubscribedBy == ulong.MaxValue)
        {
            topic.SubscribedBy = id;
        }

        var ask = new Ask(id, topic, request, completed);
        (topic.Waiting ??= new List<Ask>(1)).Add(ask);
        _asks.Add(id, ask);
        return ToMessage(ask);
    }

    /// <summary>Null when the topic is not open. <paramref name="abandoned"/> notifies the callers that still waited for it.</summary>
    public CloseTopicMessage? Close(ulong topicId, out Action? abandoned)
    {
        abandoned = null;
        if (!_topics.Remove(topicId, out var topic))
        {
            return null;
        }

        _memberSince?.Remove(topicId);
        foreach (var ask in topic.Waiting ?? [])
        {
            _asks.Remove(ask.RequestId);
            abandoned += () => ask.Completed?.Invoke(new TopicOutcome($"Topic '{ask.Request.Name}' was closed before it was opened."));
        }

        return new CloseTopicMessage(++_lastRequest, topicId);
    }

    /// <summary>All that is open or requested, to be registered with a service again.</summary>
    /// <param name="held">The views that this node holds. They are reported to a service that did not make them.</param>
    public List<SetTopicMessage> Register(HeldRegions held)
    {
        held.BeginReport();
        // What is registered is all that is asked for, so any configuration from now on knows it.
        for (int i = 0; i < _applications?.Count; i++)
        {
            _applications[i] = _applications[i] with { Request = 0 };
        }

        foreach (var ask in _asks.Values.Where(ask => ask.Completed is null).ToArray())
        {
            _asks.Remove(ask.RequestId);
        }

        var messages = new List<SetTopicMessage>(_topics.Count);
        var named = new Dictionary<ContractDescription, ulong>();
        // In the order of opening, so that each registration is the same.
        foreach (var topic in _topics.Values.OrderBy(static topic => topic.OpenedBy))
        {
            if (topic.Granted is { } granted)
            {
                var ask = new Ask(++_lastRequest, topic, granted, null);
                _asks.Add(ask.RequestId, ask);
                messages.Add(held.Report(ToMessage(ask, named), topic.Regions));
            }

            messages.AddRange((topic.Waiting ?? []).Select(waiting => ToMessage(waiting, named)));
        }

        return messages;
    }

    /// <summary>
    /// Takes an answer. The result calls back the caller of Open. <paramref name="lost"/> is set when a topic that was open is refused on
    /// registration.
    /// </summary>
    public Action? Answer(TopicOutcomeMessage outcome, out TopicRequest? lost)
    {
        lost = null;
        if (!_asks.Remove(outcome.RequestId, out var ask))
        {
            return null;
        }

        if (_asks.Count == 0)
        {
            // After thousands of topics were opened, the table would keep room for as many requests.
            _asks.TrimExcess();
        }

        var topic = ask.Topic;
        if (topic.Waiting is { } waiting && waiting.Remove(ask) && waiting.Count == 0)
        {
            topic.Waiting = null;
        }

        string? refusal = outcome.Refusal.Length == 0 ? null : outcome.Refusal;
        if (refusal is null)
        {
            topic.Granted = ask.Request;
        }
        else if (ask.Completed is null)
        {
            lost = ask.Request;
            topic.Granted = null;
        }

        // Unless it was closed, and perhaps opened again, meanwhile.
        if (topic.Granted is null && topic.Waiting is null && _topics.GetValueOrDefault(ask.Request.TopicId) == topic)
        {
            _topics.Remove(ask.Request.TopicId);
            _memberSince?.Remove(ask.Request.TopicId);
        }

        return ask.Completed is { } completed ? () => completed(new TopicOutcome(refusal, outcome.DeniedTo)) : null;
    }

    /// <summary>The views of a configuration as they apply to the topics that are open now. Nearly always these are all of them.</summary>
    public ImmutableArray<TopicView> Accept(ImmutableArray<TopicView> views, ulong lastRequest)
    {
        ImmutableArray<TopicView>.Builder? other = null;
        for (int i = 0; i < views.Length; i++)
        {
            var accepted = Accept(views[i], lastRequest);
            if (other is null && accepted != views[i])
            {
                other = ImmutableArray.CreateBuilder<TopicView>();
                other.AddRange(views, i);
            }

            if (accepted is not null)
            {
                other?.Add(accepted);
            }
        }

        return other?.DrainToImmutable() ?? views;
    }

    /// <summary>
    /// The view as it applies to the topic that is open now. The service made it when it knew requests up to this one. Null when the view
    /// is of an earlier opening; not subscribed when it is of an earlier subscription.
    /// </summary>
    private TopicView? Accept(TopicView view, ulong lastRequest)
    {
        if (!_topics.TryGetValue(view.TopicId, out var topic) || lastRequest < topic.OpenedBy)
        {
            return null;
        }

        topic.HasView = true;
        topic.IsRouted = view.Routed;
        bool subscribes = view.Subscribed && lastRequest >= topic.SubscribedBy;
        topic.Regions = subscribes ? Shared(view.Regions) : default;
        return subscribes == view.Subscribed ? view : view with { Subscribed = false };
    }

    /// <summary>
    /// Notes since when this node is a member of its pinned topics. A service that is new, or has lost its state, does not know it.
    /// </summary>
    public void NoteMembership(ImmutableArray<TopicView> topics, ImmutableArray<RegionView> regions, NodeKey self)
    {
        foreach (var region in regions)
        {
            int place = region.Since.IsEmpty ? -1 : region.Members.BinarySearch(self);
            if (place < 0)
            {
                continue;
            }

            foreach (var view in topics)
            {
                if (view.Subscribed && view.Regions is [var only] && only == region.RegionId
                    && _topics.ContainsKey(view.TopicId))
                {
                    (_memberSince ??= [])[view.TopicId] = region.Since[place];
                }
            }
        }
    }

    private SetTopicMessage ToMessage(Ask ask, Dictionary<ContractDescription, ulong> named)
    {
        var message = ToMessage(ask);
        if (named.TryAdd(ask.Request.Contract, ask.RequestId))
        {
            return message;
        }

        return message with { ContractOf = named[ask.Request.Contract] };
    }

    private SetTopicMessage ToMessage(Ask ask) => new()
    {
        RequestId = ask.RequestId,
        Topic = ask.Request,
        Held = ask.Topic.HasView,
        Routed = ask.Topic.IsRouted,
        MemberSince = ask.Request.Role.HasFlag(TopicRole.Subscribe) ? _memberSince?.GetValueOrDefault(ask.Request.TopicId) ?? 0 : 0,
    };

    // Topics of one view have the same regions as a rule, and there may be thousands of them.
    private ImmutableArray<ulong> Shared(ImmutableArray<ulong> regions)
    {
        if (_lastRegions.IsDefault || !_lastRegions.AsSpan().SequenceEqual(regions.AsSpan()))
        {
            _lastRegions = regions;
        }

        return _lastRegions;
    }
}
