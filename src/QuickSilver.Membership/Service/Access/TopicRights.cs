using System.Collections.Immutable;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Regions;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Service.Access;

// Applies the rules of access. A node that asks for a topic without the right is refused. The subscribers of a topic with a rule get the
// identities that may publish in it, so that they accept messages of no others, whatever the packets contain.
//
// Subscribers get the identities that are in the cluster, not those that have the topic open: a node is announced in a configuration
// together with the rights of its identity, and its earlier messages are accepted by no member. So no message of a publisher with the right
// is ever refused. Identities without a member are forgotten when they are half of all: a subscriber does not take the absence of an
// identity as the loss of its right.
//
// A node that may publish in a topic has the keys of its regions. So a topic that only some may subscribe to is enclosed: it shares regions
// only with topics that the same identities may subscribe to, as far as this follows from the rules, and otherwise with none.
//
// Invariants: what an identity may do in a topic is asked once while it is known here, and does not change while the topic is known here.
// Of n identities with members, at most 2n and FewIdentities are known, and no topic lists more publishers.
internal sealed class TopicRights(ITopicAccess access, RegionMap map)
{
    // Topics that no node has open are forgotten when they are half as many as the open ones, and all are more than this.
    private const int FewTopics = 64;
    // Identities that have no member any more are forgotten when they are more than those that have one, and all are more than this.
    private const int FewIdentities = 64;

    private readonly Dictionary<ulong, Restricted> _topics = [];
    private readonly Dictionary<string, Known> _identities = [];
    private int _present;

    public string Source => access.Source;

    /// <summary>A node with this identity has become a member.</summary>
    public void OnMember(string? identity)
    {
        string name = identity ?? "";
        ref var known = ref CollectionsMarshal.GetValueRefOrAddDefault(_identities, name, out bool isKnown);
        _present += known.Members++ == 0 ? 1 : 0;
        if (isKnown)
        {
            return;
        }

        ulong id = known.Id = IdentityId.Of(name);
        foreach (var (topicId, topic) in _topics)
        {
            if (topic.Ask(access, name, id))
            {
                Announce(topicId, topic);
            }
        }
    }

    /// <summary>A member with this identity is in the cluster no longer.</summary>
    public void OnGone(string? identity)
    {
        ref var known = ref CollectionsMarshal.GetValueRefOrNullRef(_identities, identity ?? "");
        if (Unsafe.IsNullRef(ref known))
        {
            return;
        }

        _present -= --known.Members == 0 ? 1 : 0;
        if (_identities.Count > FewIdentities && _identities.Count > 2 * _present)
        {
            ForgetGone();
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

    /// <summary>A topic is open, or open again.</summary>
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
            foreach (var (name, known) in _identities)
            {
                topic.Ask(access, name, known.Id);
            }
        }

        Announce(request.TopicId, topic);
    }

    private void Announce(ulong topicId, Restricted topic)
    {
        if (topic.HasPublishers)
        {
            map.SetPublishers(topicId, topic.Publishers);
        }

        map.SetEnclosure(topicId, topic.Enclosure);
    }

    private void ForgetGone()
    {
        var gone = new HashSet<ulong>();
        foreach (var (name, known) in _identities)
        {
            if (known.Members == 0)
            {
                gone.Add(known.Id);
                _identities.Remove(name);
            }
        }

        foreach (var (topicId, topic) in _topics)
        {
            if (topic.Forget(gone))
            {
                Announce(topicId, topic);
            }
        }
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

    private struct Known
    {
        public ulong Id;
        // How many nodes with this identity are in the cluster.
        public int Members;
    }

    private sealed class Restricted(string name, bool hasPublishers, string? enclosure)
    {
        /// <summary>Whether a rule limits who may publish.</summary>
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

        /// <summary>Identities have no member any more. True: some of them were among the publishers.</summary>
        public bool Forget(HashSet<ulong> identities)
        {
            var left = Publishers.RemoveAll(identities.Contains);
            bool hasChanged = left.Length != Publishers.Length;
            Publishers = left;
            return hasChanged;
        }
    }
}
