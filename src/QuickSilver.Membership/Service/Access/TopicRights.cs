using System.Collections.Immutable;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Regions;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Service.Access;

// Applies the rules of access. Who asks for a topic without the right is refused. And the subscribers of a topic with a rule are told which
// identities may publish in it, so that they take messages of nobody else, whatever its packets say.
//
// Told are those identities that are in the cluster, not those that have the topic open: a node is announced in a configuration together
// with what its identity may do, and sends nothing that anybody takes before. So nothing of a publisher with the right is ever refused.
//
// Whoever may publish in a topic has the keys of its regions. So a topic that not everybody may subscribe to is enclosed: it shares regions
// only with topics that the same may subscribe to, as far as the rules tell which these are, and otherwise with none.
//
// Invariant: what an identity may do in a topic is asked once, and does not change while the topic is known here.
internal sealed class TopicRights(ITopicAccess access, RegionMap map)
{
    // Topics that nobody has open any more are forgotten when they are half as many as those that somebody has, and all are more than this.
    private const int FewTopics = 64;

    private readonly Dictionary<ulong, Restricted> _topics = [];
    private readonly Dictionary<string, ulong> _identities = [];

    public string Source => access.Source;

    /// <summary>Somebody with this identity has become a member.</summary>
    public void OnMember(string? identity)
    {
        string name = identity ?? "";
        if (!_identities.TryAdd(name, IdentityId.Of(name)))
        {
            return;
        }

        foreach (var (topicId, topic) in _topics)
        {
            if (topic.Ask(access, name, _identities[name]))
            {
                Tell(topicId, topic);
            }
        }
    }

    /// <summary>The right that it lacks: "publish in" or "subscribe to"; null: it has all that it asks for.</summary>
    public string? Lacking(string? identity, TopicRequest request)
    {
        string name = identity ?? "";
        return request.Role.HasFlag(TopicRole.Publish) && !access.MayPublish(name, request.Name) ? "publish in"
            : request.Role.HasFlag(TopicRole.Subscribe) && !access.MaySubscribe(name, request.Name) ? "subscribe to"
            : null;
    }

    /// <summary>A topic is open, perhaps anew.</summary>
    public void OnOpen(TopicRequest request)
    {
        bool isRestricted = access.IsRestricted(request.Name);
        if (!isRestricted && access.EnclosureOf(request.Name) is null)
        {
            return;
        }

        if (!_topics.TryGetValue(request.TopicId, out var topic))
        {
            ForgetClosed();
            topic = new Restricted(request.Name, isRestricted, access.EnclosureOf(request.Name));
            _topics.Add(request.TopicId, topic);
            foreach (var (name, id) in _identities)
            {
                topic.Ask(access, name, id);
            }
        }

        Tell(request.TopicId, topic);
    }

    private void Tell(ulong topicId, Restricted topic)
    {
        if (topic.HasPublishers)
        {
            map.SetPublishers(topicId, topic.Publishers);
        }

        map.SetEnclosure(topicId, topic.Enclosure);
    }

    private void ForgetClosed()
    {
        if (_topics.Count < FewTopics || 2 * _topics.Count < 3 * map.TopicCount)
        {
            return;
        }

        foreach (ulong topicId in _topics.Keys)
        {
            if (!map.Topics.ContainsKey(topicId))
            {
                _topics.Remove(topicId);
            }
        }
    }

    private sealed class Restricted(string name, bool hasPublishers, string? enclosure)
    {
        /// <summary>Whether there is a rule of who may publish.</summary>
        public bool HasPublishers => hasPublishers;

        public ImmutableArray<ulong> Publishers { get; private set; } = [];

        /// <summary>0: everybody in the cluster may subscribe.</summary>
        public ulong Enclosure { get; private set; } = enclosure is null ? 0 : TopicId.Of(enclosure);

        /// <summary>Asks what an identity may do. True: the topic's publishers or its enclosure are others than before.</summary>
        public bool Ask(ITopicAccess access, string identity, ulong id)
        {
            bool hasChanged = false;
            if (access.MayPublish(identity, name))
            {
                Publishers = Publishers.Add(id);
                hasChanged = true;
            }

            if (Enclosure == 0 && !access.MaySubscribe(identity, name))
            {
                Enclosure = TopicId.Of(name);
                hasChanged = true;
            }

            return hasChanged;
        }
    }
}
