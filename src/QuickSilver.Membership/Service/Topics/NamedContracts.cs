using QuickSilver.Membership.Contracts;

namespace QuickSilver.Membership.Service.Topics;

// The different contracts that a member has named, in bytes as they were sent. The service keeps each while a topic is
// open with it, so a client that named ever new ones would make it grow. A program has as many as it has types.
internal sealed class NamedContracts
{
    // Null while there is only one, as for most.
    private HashSet<ContractDescription>? _all;
    private ContractDescription? _last;
    private long _bytes;

    public bool Has(ContractDescription contract) => contract.Equals(_last) || _all?.Contains(contract) == true;

    public bool HasRoomFor(int bytes, long most) => _bytes + bytes <= most;

    /// <summary>Adds one that is not there yet.</summary>
    public void Add(ContractDescription contract, int bytes)
    {
        _bytes += bytes;
        if (_last is not null)
        {
            (_all ??= [_last]).Add(contract);
        }

        _last = contract;
    }
}
