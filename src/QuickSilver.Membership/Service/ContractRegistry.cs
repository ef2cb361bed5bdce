using QuickSilver.Membership.Client;

namespace QuickSilver.Membership.Service;

// What each open topic carries and promises. The first endpoint registers its contract; later ones must agree in kind,
// guarantee, security and the type of every field number that both have. Fields that one side lacks are compatible, as in
// protobuf, and are remembered, so that a third endpoint is held to them too. The last endpoint to close takes the
// contract along.
internal sealed class ContractRegistry
{
    private readonly Dictionary<ulong, Entry> _entries = [];
    // Each once, however many topics have it.
    private readonly Dictionary<ContractDescription, SharedContract> _contracts = [];

    private sealed class SharedContract(ContractDescription contract)
    {
        public readonly ContractDescription Contract = contract;
        public readonly Dictionary<int, ContractField> Fields = contract.Fields.ToDictionary(field => field.Number);
        public int Topics;
    }

    private sealed class Entry(string name, SharedContract shared)
    {
        public readonly string Name = name;
        public readonly SharedContract Shared = shared;
        // The contract's, until an endpoint knows of one that the contract lacks.
        public Dictionary<int, ContractField> Fields = shared.Fields;
        public int Endpoints;

        public ContractDescription Contract => Shared.Contract;
    }

    public int Count => _entries.Count;

    /// <summary>Null when the topic may be opened under this contract; otherwise a sentence that names what differs.</summary>
    public string? Check(TopicRequest topic)
    {
        var numbers = new HashSet<int>();
        foreach (var field in topic.Contract.Fields)
        {
            if (!numbers.Add(field.Number))
            {
                return $"Topic '{topic.Name}': the contract has two fields numbered {field.Number}.";
            }
        }

        return _entries.TryGetValue(topic.TopicId, out var entry) ? Compare(entry, topic) : null;
    }

    /// <summary>Counts one more endpoint of a topic that <see cref="Check"/> let pass.</summary>
    public void Add(TopicRequest topic)
    {
        Learn(topic).Endpoints++;
    }

    /// <summary>Remembers the fields of an endpoint that is counted already.</summary>
    public void Update(TopicRequest topic) => Learn(topic);

    public void Remove(ulong topicId)
    {
        if (_entries.TryGetValue(topicId, out var entry) && --entry.Endpoints == 0)
        {
            _entries.Remove(topicId);
            if (--entry.Shared.Topics == 0)
            {
                _contracts.Remove(entry.Contract);
            }
        }
    }

    private Entry Learn(TopicRequest topic)
    {
        if (!_entries.TryGetValue(topic.TopicId, out var entry))
        {
            entry = new Entry(topic.Name, Share(topic.Contract));
            _entries.Add(topic.TopicId, entry);
            return entry;
        }

        foreach (var field in topic.Contract.Fields)
        {
            if (!entry.Fields.ContainsKey(field.Number))
            {
                entry.Fields = entry.Fields == entry.Shared.Fields ? new(entry.Fields) : entry.Fields;
                entry.Fields.Add(field.Number, field);
            }
        }

        return entry;
    }

    private SharedContract Share(ContractDescription contract)
    {
        if (!_contracts.TryGetValue(contract, out var shared))
        {
            shared = new SharedContract(contract);
            _contracts.Add(contract, shared);
        }

        shared.Topics++;
        return shared;
    }

    private static string? Compare(Entry entry, TopicRequest topic)
    {
        var offered = entry.Contract;
        var asked = topic.Contract;
        if (entry.Name != topic.Name)
        {
            return $"Topic '{topic.Name}' has the same number as topic '{entry.Name}', which is open: one of them needs another name.";
        }

        if (offered.Kind != asked.Kind)
        {
            return $"Topic '{topic.Name}' carries {Describe(offered)}; this endpoint has {Describe(asked)}.";
        }

        if (offered.Guarantee != asked.Guarantee)
        {
            return $"Topic '{topic.Name}' has guarantee {offered.Guarantee}; this endpoint asks for {asked.Guarantee}.";
        }

        if (offered.Security != asked.Security)
        {
            return $"Topic '{topic.Name}' has security {offered.Security}; this endpoint asks for {asked.Security}.";
        }

        foreach (var field in asked.Fields)
        {
            if (entry.Fields.TryGetValue(field.Number, out var known) && known.Type != field.Type)
            {
                return $"Topic '{topic.Name}' carries {Describe(offered)} with field {known.Number} '{known.Name}' of type {known.Type};"
                    + $" this endpoint has type {field.Type}.";
            }
        }

        return null;
    }

    private static string Describe(ContractDescription contract) => $"{contract.TypeName}({contract.Kind})";
}
