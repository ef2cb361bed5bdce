using System.Text;
using QuickSilver.Serialization;

namespace QuickSilver.Membership.Contracts;

// The part of a description that is for display: enums, logical types, and what may be null. It never decides whether endpoints match. So
// what is too large or unsound in it is left out, and the rest of the description counts. No endpoint is refused because of it.
internal static class ContractDisplay
{
    public const int MaxEnums = PayloadSchema.MaxEnums;
    public const int MaxEnumValues = PayloadSchema.MaxEnumValues;

    // Beside ContractLimits.MaxBytes, and as that on the wire or a little less. A frame has room for both.
    public const int MaxBytes = 32 * 1024;

    // The longest word for a type is less than half as long.
    public const int MaxWordBytes = 32;

    // On the wire, at most, without the texts: the enum and the nullability of a field, and the lengths of its words; an enum; a value.
    private const int FieldBytes = 9;
    private const int EnumBytes = 12;
    private const int ValueBytes = 18;

    /// <summary>The description, with as much of its display data as is sound and within the limits.</summary>
    public static ContractDescription Bounded(ContractDescription contract)
    {
        if (IsWithinLimits(contract))
        {
            return contract;
        }

        // The largest part, as a rule: an enum of all errors or all currencies.
        var plain = WithoutEnums(contract);
        return IsWithinLimits(plain) ? plain : Without(contract);
    }

    /// <summary>What endpoints are matched by.</summary>
    public static ContractDescription Without(ContractDescription contract) => IsEmpty(contract)
        ? contract
        : Map(contract, static field => IsPlain(field)
            ? field
            : new ContractField(field.Number, field.Name, field.Type) { Message = field.Message });

    /// <summary>Whether the descriptions differ in nothing but what is for display.</summary>
    public static bool IsSameWithout(ContractDescription one, ContractDescription other)
    {
        if (one.TypeName != other.TypeName || one.Kind != other.Kind || one.Guarantee != other.Guarantee
            || one.Security != other.Security || one.IsPinned != other.IsPinned
            || one.Parameters != other.Parameters || one.Nested.Length != other.Nested.Length)
        {
            return false;
        }

        for (int message = 0; message <= one.Nested.Length; message++)
        {
            var (fields, others) = (one.FieldsOf(message), other.FieldsOf(message));
            if (one.NameOf(message) != other.NameOf(message) || fields.Length != others.Length)
            {
                return false;
            }

            for (int at = 0; at < fields.Length; at++)
            {
                var (field, with) = (fields[at], others[at]);
                if (field.Number != with.Number || field.Name != with.Name || field.Type != with.Type || field.Message != with.Message)
                {
                    return false;
                }
            }
        }

        return true;
    }

    private static ContractDescription WithoutEnums(ContractDescription contract) =>
        Map(contract, static field => field.Enum is null ? field : field with { Enum = null });

    private static ContractDescription Map(ContractDescription contract, Func<ContractField, ContractField> field) => contract with
    {
        Fields = [.. contract.Fields.Select(field)],
        Nested = [.. contract.Nested.Select(nested => nested with { Fields = [.. nested.Fields.Select(field)] })],
        Enums = [],
    };

    private static bool IsPlain(ContractField field) =>
        field is { LogicalType: null, LogicalKeyType: null, Enum: null, IsNullable: null };

    private static bool IsEmpty(ContractDescription contract)
    {
        for (int message = 0; message <= contract.Nested.Length; message++)
        {
            foreach (var field in contract.FieldsOf(message))
            {
                if (!IsPlain(field))
                {
                    return false;
                }
            }
        }

        return contract.Enums.IsEmpty;
    }

    private static bool IsWithinLimits(ContractDescription contract)
    {
        long bytes = 0;
        int values = 0;
        if (contract.Enums.Length > MaxEnums)
        {
            return false;
        }

        foreach (var one in contract.Enums)
        {
            values += one.Values.Length;
            bytes += EnumBytes + (ValueBytes * (long)one.Values.Length) + Encoding.UTF8.GetByteCount(one.Name);
            if (values > MaxEnumValues || bytes > MaxBytes)
            {
                return false;
            }

            foreach (var value in one.Values)
            {
                bytes += Encoding.UTF8.GetByteCount(value.Name);
            }
        }

        for (int message = 0; message <= contract.Nested.Length && bytes <= MaxBytes; message++)
        {
            foreach (var field in contract.FieldsOf(message))
            {
                if (field.Enum is { } at && (uint)at >= (uint)contract.Enums.Length
                    || !TryMeasure(field.LogicalType, ref bytes) || !TryMeasure(field.LogicalKeyType, ref bytes))
                {
                    return false;
                }

                bytes += IsPlain(field) ? 0 : FieldBytes;
            }
        }

        return bytes <= MaxBytes;
    }

    private static bool TryMeasure(string? word, ref long bytes)
    {
        int length = word is null ? 0 : Encoding.UTF8.GetByteCount(word);
        bytes += length;
        return length <= MaxWordBytes;
    }
}
