using QuickSilver.Membership.Contracts;

namespace QuickSilver.Membership.Service;

// The different contracts that a member has named, in bytes as they were sent. The service keeps each while a topic is
// open with it, so a client that named ever new ones would make it grow. A program has as many as it has types.
internal sealed class NamedContracts
{
    // Null while there is only one, as for most.
    private HashSet<ContractDescription>? _all;
    private ContractDescription? _last;
    private long _bytes;

    /// <summary>False when it is a new one for which there is no room.</summary>
    public bool TryName(ContractDescription contract, int bytes, long most)
    {
        if (contract.Equals(_last) || _all?.Contains(contract) == true)
        {
            return true;
        }

        if (_bytes + bytes > most)
        {
            return false;
        }

        _bytes += bytes;
        if (_last is not null)
        {
            (_all ??= [_last]).Add(contract);
        }

        _last = contract;
        return true;
    }
}
