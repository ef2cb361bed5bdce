using QuickSilver.Membership.Contracts;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Serialization;

namespace QuickSilver.Topics;

// The contract that an endpoint requests for its topic, as the membership service registers and compares it.
internal static class TopicContract
{
    /// <summary>Describes the contract.</summary>
    /// <exception cref="NotSupportedException">
    /// The service would refuse the contract whatever else is open.
    /// </exception>
    public static ContractDescription Describe(
        string topic, PayloadSchema schema, TopicProtocolFactory protocol, ContractParameters parameters = default)
    {
        var contract = ContractDisplay.Bounded(SchemaContract.Of(schema) with
        {
            Guarantee = protocol.Guarantee,
            IsPinned = protocol.IsPinned,
            Parameters = parameters,
        });
        return ContractLimits.Problem(topic, contract) is { } problem ? throw new NotSupportedException(problem) : contract;
    }
}
