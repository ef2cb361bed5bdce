using System.Collections.Immutable;
using System.Text;
using QuickSilver.Serialization;

namespace QuickSilver.Membership.Contracts;

// The limits of a description. A node refuses to open a topic with a description beyond them, and so does the service, because nodes may
// not check. The memory that a service needs, and the time that a match takes, depend on these limits.
internal static class ContractLimits
{
    public const int MaxFields = PayloadSchema.MaxFields;
    public const int MaxNested = PayloadSchema.MaxNested;

    // A type's name may have a dozen namespaces; a field's is an identifier.
    public const int MaxNameBytes = 1024;

    // As it stands on the wire, or a little less. A frame from a client has room for it and for the rest of the request.
    public const int MaxBytes = 192 * 1024;

    // A field's tags, lengths and numbers on the wire, at their longest.
    public const int FieldBytes = 24;

    private const int MaxNumber = 536_870_911;

    /// <summary>Null when it is a sound description; otherwise a sentence that names the topic and what is wrong.</summary>
    public static string? Problem(string topic, ContractDescription contract)
    {
        long bytes = 0, fields = 0;
        string? longName = Measure(contract.TypeName, ref bytes) ?? Measure(contract.Kind, ref bytes)
            ?? Measure(contract.Guarantee, ref bytes) ?? Measure(contract.Security, ref bytes);
        for (int message = 0; message <= contract.Nested.Length && longName is null; message++)
        {
            longName = Measure(contract.NameOf(message), ref bytes);
            fields += contract.FieldsOf(message).Length;
            foreach (var field in contract.FieldsOf(message))
            {
                longName ??= Measure(field.Name, ref bytes) ?? Measure(field.Type, ref bytes);
            }
        }

        if (longName is not null)
        {
            return $"Topic '{topic}': the contract has a name of {Encoding.UTF8.GetByteCount(longName)} bytes,"
                + $" '{longName[..32]}…'. The limit is {MaxNameBytes}.";
        }

        if (contract.Parameters.Bytes.Length > ContractParameters.MaxBytes)
        {
            return $"Topic '{topic}': the parameters of the guarantee {contract.Guarantee} have {contract.Parameters.Bytes.Length} bytes."
                + $" The limit is {ContractParameters.MaxBytes}.";
        }

        string type = $"Topic '{topic}': the contract of {contract.TypeName}";
        bytes += contract.Parameters.Bytes.Length;
        bytes += FieldBytes * (fields + contract.Nested.Length);
        if (contract.Nested.Length > MaxNested)
        {
            return $"{type} contains more than {MaxNested} message types. Split the payload type.";
        }

        if (fields > MaxFields)
        {
            return $"{type} has more than {MaxFields} fields, including the fields of nested messages. Split the payload type.";
        }

        return bytes > MaxBytes
            ? $"{type} takes {bytes} bytes to describe. The limit is {MaxBytes}. Shorten the names of its fields, or split it."
            : FieldProblem(type, contract);
    }

    // Answers the name when it is too long.
    private static string? Measure(string name, ref long bytes)
    {
        int length = Encoding.UTF8.GetByteCount(name);
        bytes += length;
        return length > MaxNameBytes ? name : null;
    }

    private static string? FieldProblem(string type, ContractDescription contract)
    {
        for (int message = 0; message <= contract.Nested.Length; message++)
        {
            if (FieldProblem(contract, contract.FieldsOf(message)) is { } problem)
            {
                return message == 0 ? $"{type} {problem}." : $"{type} contains {contract.NameOf(message)}, which {problem}.";
            }
        }

        return null;
    }

    private static string? FieldProblem(ContractDescription contract, ImmutableArray<ContractField> fields)
    {
        int last = 0;
        foreach (var field in fields)
        {
            if (field.Number is < 1 or > MaxNumber)
            {
                return $"has a field numbered {field.Number}; the range is 1 to {MaxNumber}";
            }

            if (field.Number == last)
            {
                return $"has two fields numbered {field.Number}";
            }

            if (field.Number < last)
            {
                return $"has field {field.Number} after field {last}; fields must be in ascending order";
            }

            if (field.Message is { } message && (message < 0 || message > contract.Nested.Length))
            {
                return $"has field {field.Number} with message {message} of {contract.Nested.Length}";
            }

            last = field.Number;
        }

        return null;
    }
}
