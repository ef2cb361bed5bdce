using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Service.Topics;

// The contracts of the open topics. An endpoint may join a topic when its contract matches those of all that have it open: any two of them
// must match, because two contracts that both match a third need not match each other. A contract is forgotten with its last endpoint.
internal sealed class ContractRegistry
{
    // Of one topic at a time: an upgrade has two. Each endpoint that joins is matched with all.
    private const int MaxVersions = 32;

    // Of these, further ones that differ only in what is for display count as the same: names never take the place of a version.
    private const int MaxDisplayed = 16;

    private readonly Dictionary<ulong, Entry> _entries = [];
    // Each once, however many topics have it.
    private readonly Dictionary<ContractDescription, SharedContract> _contracts = [];

    private sealed class SharedContract(ContractDescription contract)
    {
        public readonly ContractDescription Contract = contract;
        public int Versions;
    }

    private sealed class Entry(string name, SharedContract first)
    {
        public readonly string Name = name;
        // Of all endpoints but those that Others names.
        public SharedContract First = first;
        public int FirstEndpoints;
        // Null while all have one contract, as they mostly do.
        public OtherVersions? Others;
    }

    private sealed class Version(SharedContract shared)
    {
        public readonly SharedContract Shared = shared;
        public int Endpoints;
    }

    private sealed class OtherVersions
    {
        // In the order of their coming.
        public readonly List<Version> All = [];
        public readonly Dictionary<NodeKey, Version> ByNode = [];
        // The last contract with a type, where only endpoints that take any payload are left: they may not have asked for it yet, and
        // still have messages of it. Null while there is another.
        public ContractDescription? Last;

        public bool IsEmpty => All.Count == 0 && Last is null;
    }

    public int Count => _entries.Count;

    /// <summary>How many different contracts are known.</summary>
    public int ContractCount => _contracts.Count;

    /// <summary>The topics with the smallest ids above this one, in their order.</summary>
    public List<(ulong Id, string Name)> After(ulong id, int most)
    {
        // The greatest of those that are kept comes out first.
        var kept = new PriorityQueue<Entry, ulong>(Comparer<ulong>.Create(static (a, b) => b.CompareTo(a)));
        foreach (var (topicId, entry) in _entries)
        {
            if (topicId > id && kept.Count < most)
            {
                kept.Enqueue(entry, topicId);
            }
            else if (topicId > id)
            {
                kept.EnqueueDequeue(entry, topicId);
            }
        }

        var topics = new List<(ulong Id, string Name)>(kept.Count);
        while (kept.TryDequeue(out var entry, out ulong topicId))
        {
            topics.Add((topicId, entry.Name));
        }

        topics.Reverse();
        return topics;
    }

    /// <summary>The name of an open topic; null if none has this id.</summary>
    public string? NameOf(ulong topicId) => _entries.GetValueOrDefault(topicId)?.Name;

    /// <summary>The topics whose names begin so, in the order of their ids.</summary>
    public IEnumerable<(ulong Id, string Name)> BeginningWith(string prefix) => _entries
        .Where(entry => entry.Value.Name.StartsWith(prefix, StringComparison.Ordinal))
        .Select(static entry => (entry.Key, entry.Value.Name))
        .OrderBy(static topic => topic.Key);

    /// <summary>The contracts of a topic, and how many nodes have each; none of a topic that is not open.</summary>
    public List<(ContractDescription Contract, int Nodes)> VersionsOf(ulong topicId)
    {
        var versions = new List<(ContractDescription Contract, int Nodes)>();
        if (_entries.TryGetValue(topicId, out var entry))
        {
            versions.Add((entry.First.Contract, entry.FirstEndpoints));
            versions.AddRange((entry.Others?.All ?? []).Select(static other => (other.Shared.Contract, other.Endpoints)));
            if (entry.Others?.Last is { } last)
            {
                versions.Add((last, 0));
            }
        }

        return versions;
    }

    /// <summary>The contract with which a node has the topic open, as it is listed; null if the topic is not open.</summary>
    public ContractDescription? ContractOf(NodeKey node, ulong topicId) => _entries.TryGetValue(topicId, out var entry)
        ? entry.Others?.ByNode.GetValueOrDefault(node)?.Shared.Contract ?? entry.First.Contract
        : null;

    /// <summary>
    /// Null when the node may open the topic under this contract; otherwise a sentence that names what differs or is wrong.
    /// A node that <paramref name="replaces"/> what it has open is not held to the contract that it had. If an open contract differs, it
    /// is <paramref name="other"/>.
    /// </summary>
    public string? Check(NodeKey node, TopicRequest topic, bool replaces, out ContractDescription? other)
    {
        other = null;
        // What is known was found sound when it came.
        if (!_contracts.ContainsKey(topic.Contract) && ContractLimits.Problem(topic.Name, topic.Contract) is { } problem)
        {
            return problem;
        }

        if (!_entries.TryGetValue(topic.TopicId, out var entry))
        {
            return null;
        }

        if (entry.Name != topic.Name)
        {
            return $"Topic '{topic.Name}' has the same hash as the open topic '{entry.Name}'. Rename one of them.";
        }

        var own = replaces ? entry.Others?.ByNode.GetValueOrDefault(node) : null;
        bool isFirst = replaces && own is null;
        return Compare(entry, topic, own, firstIsOwn: isFirst && entry.FirstEndpoints == 1, out other);
    }

    /// <summary>Counts one more endpoint of a topic that <see cref="Check"/> let pass.</summary>
    public void Add(NodeKey node, TopicRequest topic)
    {
        if (!_entries.TryGetValue(topic.TopicId, out var entry))
        {
            entry = new Entry(topic.Name, Share(topic.Contract));
            _entries.Add(topic.TopicId, entry);
        }

        var contract = Displayed(entry, topic.Contract);
        if (entry.First.Contract.Equals(contract))
        {
            entry.FirstEndpoints++;
            return;
        }

        var others = entry.Others ??= new OtherVersions();
        var version = others.All.Find(other => other.Shared.Contract.Equals(contract));
        if (version is null)
        {
            version = new Version(Share(contract));
            others.All.Add(version);
            others.Last = TakesAny(version.Shared) ? others.Last : null;
        }

        version.Endpoints++;
        others.ByNode.Add(node, version);
    }

    /// <summary>The contract of an endpoint that is counted already.</summary>
    public void Update(NodeKey node, TopicRequest topic)
    {
        var entry = _entries[topic.TopicId];
        var known = entry.Others?.ByNode.GetValueOrDefault(node)?.Shared ?? entry.First;
        if (!known.Contract.Equals(topic.Contract))
        {
            Remove(node, topic.TopicId);
            Add(node, topic);
        }
    }

    public void Remove(NodeKey node, ulong topicId)
    {
        if (!_entries.TryGetValue(topicId, out var entry))
        {
            return;
        }

        if (entry.Others is { } others && others.ByNode.Remove(node, out var version))
        {
            if (--version.Endpoints == 0)
            {
                Release(version.Shared);
                others.All.Remove(version);
                Keep(entry, version.Shared.Contract);
            }
        }
        else if (--entry.FirstEndpoints == 0)
        {
            Release(entry.First);
            RemoveFirst(topicId, entry);
        }
    }

    private void RemoveFirst(ulong topicId, Entry entry)
    {
        if (entry.Others is not { All.Count: > 0 } others)
        {
            _entries.Remove(topicId);
            return;
        }

        var gone = entry.First.Contract;

        var next = others.All[0];
        entry.First = next.Shared;
        entry.FirstEndpoints = next.Endpoints;
        others.All.RemoveAt(0);
        foreach (var (node, version) in others.ByNode)
        {
            if (version == next)
            {
                others.ByNode.Remove(node);
            }
        }

        Keep(entry, gone);
    }

    // A version is gone. Its contract is remembered if no other with a type is left.
    private static void Keep(Entry entry, ContractDescription gone)
    {
        var others = entry.Others!;
        if (TakesAny(entry.First) && others.All.TrueForAll(static other => TakesAny(other.Shared)))
        {
            others.Last = gone.Kind == ContractDescription.AnyKind ? others.Last : gone;
        }

        entry.Others = others.IsEmpty ? null : others;
    }

    private static bool TakesAny(SharedContract shared) => shared.Contract.Kind == ContractDescription.AnyKind;

    private static string? Compare(
        Entry entry, TopicRequest topic, Version? own, bool firstIsOwn, out ContractDescription? differs)
    {
        differs = null;
        var versions = entry.Others?.All;
        bool isOpen = entry.First.Contract.Equals(topic.Contract)
            || versions?.Exists(version => version.Shared.Contract.Equals(topic.Contract)) == true;
        if (isOpen)
        {
            // It was compared with all the others when it came.
            return null;
        }

        if (!firstIsOwn && ContractMatch.Difference(topic.Name, entry.First.Contract, topic.Contract) is { } difference)
        {
            differs = entry.First.Contract;
            return difference;
        }

        foreach (var version in versions ?? [])
        {
            bool isOwn = version == own && version.Endpoints == 1;
            if (!isOwn && ContractMatch.Difference(topic.Name, version.Shared.Contract, topic.Contract) is { } other)
            {
                differs = version.Shared.Contract;
                return other;
            }
        }

        return IsBelowLimit(entry, topic.Contract)
            ? null
            : $"Topic '{topic.Name}' is open with {MaxVersions} versions of its contract, which is the limit. "
                + "Close all endpoints of one version first.";
    }

    // Versions that differ in display only count once, and one more of them is let in.
    private static bool IsBelowLimit(Entry entry, ContractDescription contract)
    {
        if (1 + (entry.Others?.All.Count ?? 0) < MaxVersions)
        {
            return true;
        }

        var shapes = new List<ContractDescription>();
        foreach (var open in Open(entry))
        {
            if (!shapes.Exists(shape => ContractDisplay.IsSameWithout(shape, open)))
            {
                shapes.Add(open);
            }
        }

        return shapes.Count < MaxVersions || shapes.Exists(shape => ContractDisplay.IsSameWithout(shape, contract));
    }

    // The contract under which an endpoint is counted.
    private static ContractDescription Displayed(Entry entry, ContractDescription contract)
    {
        if (1 + (entry.Others?.All.Count ?? 0) < MaxDisplayed || Open(entry).Contains(contract))
        {
            return contract;
        }

        return Open(entry).FirstOrDefault(open => ContractDisplay.IsSameWithout(open, contract)) ?? contract;
    }

    private static IEnumerable<ContractDescription> Open(Entry entry) =>
        (entry.Others?.All ?? []).Select(static other => other.Shared.Contract).Prepend(entry.First.Contract);

    private SharedContract Share(ContractDescription contract)
    {
        if (!_contracts.TryGetValue(contract, out var shared))
        {
            shared = new SharedContract(contract);
            _contracts.Add(contract, shared);
        }

        shared.Versions++;
        return shared;
    }

    private void Release(SharedContract shared)
    {
        if (--shared.Versions == 0)
        {
            _contracts.Remove(shared.Contract);
        }
    }
}
