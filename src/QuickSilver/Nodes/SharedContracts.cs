using QuickSilver.Membership.Contracts;

namespace QuickSilver.Nodes;

// Each contract once, however many topics have it. Core thread only.
internal sealed class SharedContracts
{
    // More than the kinds of topics of any application.
    private const int MostShared = 256;

    private readonly HashSet<ContractDescription> _all = [];

    /// <summary>The contract that is kept of those that are equal to this one.</summary>
    public ContractDescription Of(ContractDescription contract)
    {
        if (_all.TryGetValue(contract, out var known))
        {
            return known;
        }

        if (_all.Count < MostShared)
        {
            _all.Add(contract);
        }

        return contract;
    }
}
