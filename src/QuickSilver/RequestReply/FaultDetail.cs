using System.Diagnostics.CodeAnalysis;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Protocol;
using QuickSilver.Serialization;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver;

// The detail of a fault as it is sent: its encoded value, and the contract of its type, as topics have. So a requester reads a fault only
// as a type that it is of, and never as another one whose fields happen to look like it. Public exceptions have it, so it is in their
// namespace.
//
// As a message: 1 the contract, 2 the text of the fault, 3 the value.
internal sealed class FaultDetail
{
    /// <summary>Of the message: the value, the contract and the text.</summary>
    public const int MaxBytes = 64 << 10;

    private FaultDetail(ContractDescription contract, ReadOnlyMemory<byte> value)
    {
        Contract = contract;
        Value = value;
    }

    public ContractDescription Contract { get; }

    public ReadOnlyMemory<byte> Value { get; }

    /// <exception cref="NotSupportedException">It is too large.</exception>
    public static FaultDetail Of<T>(IPayloadCodec<T> codec, T value)
    {
        int size = codec.GetSize(value);
        if (size > MaxBytes)
        {
            throw TooLarge(codec.Schema.TypeName, size);
        }

        byte[] bytes = new byte[size];
        int written = codec.Write(value, bytes);
        return new FaultDetail(ContractOf(codec.Schema), bytes.AsMemory(0, written));
    }

    /// <exception cref="NotSupportedException">It is too large with this text and the contract.</exception>
    public byte[] Write(string text)
    {
        var buffer = new ControlBuffer();
        ContractFields.Write(buffer, 1, Contract);
        buffer.Text(2, text);
        buffer.Bytes(3, Value.Span);
        return buffer.Length <= MaxBytes ? buffer.Written.ToArray() : throw TooLarge(Contract.TypeName, buffer.Length);
    }

    /// <summary>Reads what another node sent, which is not trusted.</summary>
    /// <exception cref="PayloadFormatException">It is malformed.</exception>
    public static FaultDetail Read(ReadOnlySpan<byte> source, out string text)
    {
        if (source.Length > MaxBytes)
        {
            throw PayloadFormatException.Of($"The fault is malformed: it has {source.Length:N0} bytes, more than {MaxBytes:N0}");
        }

        try
        {
            return ReadFields(source, out text);
        }
        catch (ControlFormatException exception)
        {
            throw PayloadFormatException.Of($"The fault is malformed: {exception.Message.TrimEnd('.')}");
        }
    }

    /// <summary>Reads the value if it is of this type; otherwise false.</summary>
    /// <exception cref="PayloadFormatException">It is of this type and cannot be read.</exception>
    public bool TryRead<T>(IPayloadCodec<T> codec, [MaybeNullWhen(false)] out T value)
    {
        value = default;
        var asked = ContractOf(codec.Schema);
        if (asked.TypeName != Contract.TypeName || asked.Kind != Contract.Kind)
        {
            return false;
        }

        if (ContractMatch.Difference("The fault", "has the type", Contract, asked) is { } difference)
        {
            throw PayloadFormatException.Of(difference.TrimEnd('.'));
        }

        try
        {
            value = codec.Read(Value.Span);
            return true;
        }
        catch (Exception exception) when (exception is not (PayloadFormatException or OutOfMemoryException))
        {
            // A codec of the application may throw anything.
            throw new PayloadFormatException(
                $"The fault of type {Contract.TypeName} cannot be decoded: {PayloadFormatException.InWords(exception).TrimEnd('.')}. "
                + "Check that both sides have the same type and codec of faults.",
                exception);
        }
    }

    private static FaultDetail ReadFields(ReadOnlySpan<byte> source, out string text)
    {
        var reader = new ProtobufReader(source);
        text = "";
        ContractDescription? contract = null;
        byte[] value = [];
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: contract = ContractFields.Read(ref reader, field); break;
                case 2: text = reader.ReadText(field, MaxBytes); break;
                case 3: value = reader.ReadBytes(field).ToArray(); break;
                default: reader.Skip(field); break;
            }
        }

        if (contract is null)
        {
            throw PayloadFormatException.Of("The fault is malformed: it has no type");
        }

        return ContractLimits.Problem("fault", contract) is { } problem
            ? throw PayloadFormatException.Of($"The fault is malformed: {problem.TrimEnd('.')}")
            : new FaultDetail(contract, value);
    }

    private static NotSupportedException TooLarge(string type, int bytes) => new(
        $"A fault of type {type} takes {bytes:N0} bytes with the description of its type. The limit is {MaxBytes:N0}. Leave out what the "
        + "requester can ask for.");

    // What is for display is left out: nothing shows it.
    private static ContractDescription ContractOf(PayloadSchema schema) => ContractDisplay.Without(SchemaContract.Of(schema));
}
