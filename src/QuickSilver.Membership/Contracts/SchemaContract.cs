using System.Collections.Immutable;
using QuickSilver.Serialization;

namespace QuickSilver.Membership.Contracts;

// The schema of a codec as the part of a contract that describes the payload, and back.
internal static class SchemaContract
{
    /// <summary>The description, with a guarantee that the caller replaces.</summary>
    public static ContractDescription Of(PayloadSchema schema) => new()
    {
        TypeName = schema.TypeName,
        Kind = schema.Kind,
        Guarantee = "",
        Fields = Fields(schema.Fields),
        Nested = [.. schema.Nested.Select(static message => new ContractMessage(message.Name, Fields(message.Fields)))],
        Enums =
        [
            .. schema.Enums.Select(static one => new ContractEnum(
                one.Name, one.IsFlags, [.. one.Values.Select(static value => new ContractEnumValue(value.Name, value.Number))])),
        ],
    };

    /// <summary>The schema of what the contract carries.</summary>
    public static PayloadSchema SchemaOf(ContractDescription contract) => new(contract.TypeName, contract.Kind, Fields(contract.Fields))
    {
        Nested = [.. contract.Nested.Select(static message => new PayloadMessage(message.Name, Fields(message.Fields)))],
        Enums =
        [
            .. contract.Enums.Select(static one => new PayloadEnum(
                one.Name, [.. one.Values.Select(static value => new PayloadEnumValue(value.Name, value.Number))])
            {
                IsFlags = one.IsFlags,
            }),
        ],
    };

    private static ImmutableArray<ContractField> Fields(ImmutableArray<PayloadField> fields) =>
    [
        .. fields.Select(static field => new ContractField(field.Number, field.Name, field.Type)
        {
            Message = field.Message,
            LogicalType = field.LogicalType,
            LogicalKeyType = field.LogicalKeyType,
            Enum = field.Enum,
            IsNullable = field.IsNullable,
        }),
    ];

    private static ImmutableArray<PayloadField> Fields(ImmutableArray<ContractField> fields) =>
    [
        .. fields.Select(static field => new PayloadField(field.Number, field.Name, field.Type)
        {
            Message = field.Message,
            LogicalType = field.LogicalType,
            LogicalKeyType = field.LogicalKeyType,
            Enum = field.Enum,
            IsNullable = field.IsNullable,
        }),
    ];
}
