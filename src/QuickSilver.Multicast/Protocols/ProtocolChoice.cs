using QuickSilver.Membership.Contracts;

namespace QuickSilver.Multicast.Protocols;

// The protocol that an endpoint asks for if it is not one of the built-in guarantees, with the parameters on which all endpoints of the
// topic agree, and what this endpoint asks for besides.
internal sealed record ProtocolChoice(TopicProtocolFactory Factory)
{
    public ContractParameters Parameters { get; init; }

    public ProtocolSettings? Settings { get; init; }
}
