using QuickSilver.Membership.Contracts;

namespace QuickSilver.Multicast.Protocols;

// A topic as its protocol opens it. The contract has the parameters on which all endpoints of the topic agree, on whichever node. The
// settings are what the first endpoint of the topic on this node asked for besides; null: nothing.
internal readonly record struct ProtocolTopic(ulong Id, string Name, ContractDescription Contract, ProtocolSettings? Settings)
{
    public ReadOnlySpan<byte> Parameters => Contract.Parameters.Bytes;
}

// What an endpoint asks of its topic's protocol besides the contract, such as a callback or a limit that other nodes need not know. Each
// protocol has a type of its own.
internal abstract class ProtocolSettings;
