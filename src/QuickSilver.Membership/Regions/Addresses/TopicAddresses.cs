using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Regions.Addresses;

// Gives multicast addresses of their own to the topics that need them most: a message of a topic in many regions takes many sends, and one
// if the topic has an address (the hybrid mode). The need of a topic is the number of sends that a message saves times its subscribers,
// because the service does not know the traffic, and popular topics are busy.
//
// Both the cluster and each node have a limit. Where all addresses are in use, a topic gets one only if it saves twice as much as those
// from which it takes it. So a change of a subscription moves few addresses, and each exchange saves more than the one before: addresses do
// not go round. Only topics that have changed are considered, so the cost of a change is that of sending its topics.
//
// Nothing is stored: a new service derives the addresses again from the same hash of the topic, so they usually are the same.
internal sealed class TopicAddresses(AddressPlan plan, TopicAddressRules rules)
{
    private readonly List<HeldAddress> _held = [];
    private readonly Dictionary<MappedTopic, HeldAddress> _byTopic = [];
    private readonly List<(MappedTopic Topic, double Need)> _candidates = [];
    private readonly HashSet<HeldAddress> _victims = [];
    // The topics whose addresses were withdrawn, and until when they get none, counted in configurations. Few at a time.
    private readonly Dictionary<ulong, long> _resting = [];
    private long _configurations;

    /// <summary>The addresses that topics have.</summary>
    public IReadOnlyCollection<HeldAddress> Held => _held;

    /// <summary>The topic's address; null: it has none.</summary>
    public TopicAddress? Of(MappedTopic topic) => _byTopic.GetValueOrDefault(topic)?.Announced;

    /// <summary>Called when regions and topics have changed. Adds topics that lose their address.</summary>
    /// <param name="touched">The topics whose regions or subscribers have changed.</param>
    /// <param name="configuration">The configuration that is being made.</param>
    /// <param name="touch">Adds a topic to those whose views are sent.</param>
    public void Run(List<MappedTopic> touched, long configuration, Action<MappedTopic> touch)
    {
        if (!rules.IsOn)
        {
            return;
        }

        _configurations++;
        ForgetRested();
        int before = touched.Count;
        for (int i = 0; i < before; i++)
        {
            Weigh(touched[i]);
        }

        for (int i = 0; i < before; i++)
        {
            Check(touched[i], configuration, touch);
        }

        _candidates.Sort(static (a, b) => HeldAddress.Compare(b.Topic.Id, b.Need, a.Topic.Id, a.Need));
        foreach (var (topic, need) in _candidates)
        {
            TryGive(topic, need, configuration, touch);
        }

        _candidates.Empty();
    }

    private void ForgetRested()
    {
        foreach (var (topic, until) in _resting)
        {
            if (until <= _configurations)
            {
                _resting.Remove(topic);
            }
        }
    }

    private void Weigh(MappedTopic topic)
    {
        int sends = topic.Regions.Count < 2 || topic.IsPinned ? 0 : topic.Sends;
        double need = Math.Max(0, sends - 1) * (rules.TrafficOf?.Invoke(topic.Id) ?? topic.Subscribers);
        if (_byTopic.TryGetValue(topic, out var address))
        {
            Uncount(address);
            address.Need = need;
            Count(address);
        }
        else if (sends >= rules.LeastSends && !_resting.ContainsKey(topic.Id))
        {
            _candidates.Add((topic, need));
        }
    }

    // A topic that has an address and has changed.
    private void Check(MappedTopic topic, long configuration, Action<MappedTopic> touch)
    {
        if (!_byTopic.TryGetValue(topic, out var address))
        {
            return;
        }

        if (address.Need == 0 || topic.Sends * 2 < rules.LeastSends)
        {
            Withdraw(address, configuration, touch);
            return;
        }

        // A node that has just subscribed may have too many.
        for (int i = 0; i < address.Nodes.Count; i++)
        {
            var node = address.Nodes[i];
            if (node.Addresses.Count > rules.MostOfNode)
            {
                Withdraw(node.Addresses.Least!, configuration, touch);
                i = -1;
            }
        }
    }

    private void TryGive(MappedTopic topic, double need, long configuration, Action<MappedTopic> touch)
    {
        _victims.Clear();
        double loss = 0;
        if (_held.Count >= rules.Most && !TryAddVictim(NodeAddresses.LeastOf(_held)!, need, ref loss))
        {
            return;
        }

        foreach (var opener in topic.Openers)
        {
            if (opener.Subscribes && opener.Node.Addresses is var held && held.Count >= rules.MostOfNode
                && !_victims.Contains(held.Least!) && !TryAddVictim(held.Least!, need, ref loss))
            {
                return;
            }
        }

        foreach (var victim in _victims.OrderBy(static victim => victim.Topic.Id))
        {
            Withdraw(victim, configuration, touch);
        }

        var address = new HeldAddress(topic, new TopicAddress(plan.Take(topic.Id), configuration)) { Need = need };
        _byTopic.Add(topic, address);
        _held.Add(address);
        Count(address);
    }

    private bool TryAddVictim(HeldAddress least, double need, ref double loss)
    {
        loss += least.Need;
        if (loss * rules.Advantage > need)
        {
            return false;
        }

        _victims.Add(least);
        return true;
    }

    private void Withdraw(HeldAddress address, long configuration, Action<MappedTopic> touch)
    {
        var topic = address.Topic;
        plan.Release(topic.Id, address.Announced.EndPoint, configuration);
        _byTopic.Remove(topic);
        _resting[topic.Id] = _configurations + rules.RestConfigurations;
        _held.Remove(address);
        Uncount(address);
        touch(topic);
    }

    // The nodes that use the address are the topic's subscribers.
    private static void Count(HeldAddress address)
    {
        foreach (var opener in address.Topic.Openers)
        {
            if (opener.Subscribes)
            {
                opener.Node.Addresses.Add(address);
                address.Nodes.Add(opener.Node);
            }
        }
    }

    private static void Uncount(HeldAddress address)
    {
        foreach (var node in address.Nodes)
        {
            node.Addresses.Remove(address);
        }

        address.Nodes.Clear();
    }
}
