using System.Collections.Immutable;
using QuickSilver.Membership.Contracts;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Serialization;

namespace QuickSilver.Topics;

// The contract that an endpoint requests for its topic, as the membership service registers and compares it.
internal static class TopicContract
{
    /// <summary>Describes the contract.</summary>
    /// <exception cref="NotSupportedException">
    /// The service would refuse the contract whatever else is open, or no protocol provides the guarantee.
    /// </exception>
    public static ContractDescription Describe(string topic, PayloadSchema schema, TopicOptions options, TopicProtocols? protocols = null)
    {
        var protocol = (protocols ?? TopicProtocols.BuiltIn).Of(options.GuaranteeName);
        var contract = new ContractDescription
        {
            TypeName = schema.TypeName,
            Kind = schema.Kind,
            Guarantee = protocol.Guarantee,
            IsPinned = protocol.IsPinned,
            Fields = Fields(schema.Fields),
            Nested = [.. schema.Nested.Select(message => new ContractMessage(message.Name, Fields(message.Fields)))],
        };
        return ContractLimits.Problem(topic, contract) is { } problem ? throw new NotSupportedException(problem) : contract;
    }

    private static ImmutableArray<ContractField> Fields(ImmutableArray<PayloadField> fields) =>
        [.. fields.Select(field => new ContractField(field.Number, field.Name, field.Type) { Message = field.Message })];
}
