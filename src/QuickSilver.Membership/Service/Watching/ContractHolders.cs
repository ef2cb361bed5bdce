using System.Collections.Immutable;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Regions;
using QuickSilver.Membership.Service.Topics;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Service.Watching;

// Which nodes have which version of a topic's contract open. The registry has each contract once, so they are compared by reference.
internal sealed class ContractHolders(RegionMap map, ContractRegistry contracts, MemberTable members)
{
    // A topic may have thousands of nodes, and any of them may be refused again and again.
    private const int MostNamed = 64;

    /// <summary>For each contract of the topic, the nodes with the smallest keys, at most so many.</summary>
    public Dictionary<ContractDescription, ImmutableArray<NodeKey>> Of(ulong topicId, int most)
    {
        var all = new Dictionary<ContractDescription, SortedSet<NodeKey>>(ReferenceEqualityComparer.Instance);
        foreach (var (node, contract) in Openers(topicId))
        {
            if (!all.TryGetValue(contract, out var nodes))
            {
                all.Add(contract, nodes = []);
            }

            nodes.Add(node);
            if (nodes.Count > most)
            {
                nodes.Remove(nodes.Max);
            }
        }

        var named = new Dictionary<ContractDescription, ImmutableArray<NodeKey>>(ReferenceEqualityComparer.Instance);
        foreach (var (contract, nodes) in all)
        {
            named.Add(contract, [.. nodes]);
        }

        return named;
    }

    /// <summary>
    /// A sentence that names a node with this contract, and how many others have it, up to a limit; empty if there is none but the node
    /// that asks.
    /// </summary>
    public string Name(ulong topicId, ContractDescription contract, NodeKey asks)
    {
        Member? named = null;
        int others = -1;
        foreach (var (node, held) in Openers(topicId))
        {
            if (others == MostNamed)
            {
                break;
            }

            if (node != asks && ReferenceEquals(held, contract) && members.Find(node) is { } member)
            {
                others++;
                named = named is null || node.CompareTo(named.Key) < 0 ? member : named;
            }
        }

        string more = others switch
        {
            <= 0 => "",
            1 => ", and so has 1 other node",
            MostNamed => $", and so have {MostNamed} other nodes or more",
            _ => $", and so have {others} other nodes",
        };
        return named is null ? "" : $" {Describe(named)} has that version open{more}.";
    }

    private static string Describe(Member member) => $"Node {new NamedNode(member.Key, member.Info.Name)} at {member.Info.EndPoint}";

    private IEnumerable<(NodeKey Node, ContractDescription Contract)> Openers(ulong topicId)
    {
        map.Topics.TryGetValue(topicId, out var topic);
        for (int i = 0; i < topic?.Openers.Length; i++)
        {
            var node = topic.Openers[i].Node.Key;
            if (contracts.ContractOf(node, topicId) is { } contract)
            {
                yield return (node, contract);
            }
        }
    }
}
