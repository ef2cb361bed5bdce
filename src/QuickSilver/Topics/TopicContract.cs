using System.Collections.Immutable;
using QuickSilver.Membership.Contracts;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Serialization;

namespace QuickSilver.Topics;

// What an endpoint asks of its topic, as the membership service registers and matches it.
internal static class TopicContract
{
    /// <summary>Throws where the service would refuse the description whatever else is open.</summary>
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
