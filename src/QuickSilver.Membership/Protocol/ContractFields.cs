using System.Collections.Immutable;
using QuickSilver.Membership.Contracts;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol;

// How messages carry a contract.
internal static class ContractFields
{
    private const int NotNullable = 1;
    private const int Nullable = 2;

    public static void Write(ControlBuffer buffer, int field, ContractDescription contract)
    {
        int start = buffer.Begin(field);
        buffer.Text(1, contract.TypeName);
        buffer.Text(2, contract.Kind);
        buffer.Text(3, contract.Guarantee);
        buffer.Text(4, contract.Security);
        WriteFields(buffer, 5, contract.Fields);
        foreach (var message in contract.Nested)
        {
            int at = buffer.Begin(6);
            buffer.Text(1, message.Name);
            WriteFields(buffer, 2, message.Fields);
            buffer.End(at);
        }

        buffer.Bool(7, contract.IsPinned);
        foreach (var one in contract.Enums)
        {
            WriteEnum(buffer, 8, one);
        }

        buffer.Bytes(9, contract.Parameters.Bytes);

        buffer.End(start);
    }

    /// <summary>How long the contract is in a message.</summary>
    public static int BytesOf(ContractDescription contract)
    {
        var buffer = new ControlBuffer();
        Write(buffer, 1, contract);
        return buffer.Length;
    }

    private static void WriteEnum(ControlBuffer buffer, int field, ContractEnum one)
    {
        int start = buffer.Begin(field);
        buffer.Text(1, one.Name);
        buffer.Bool(2, one.IsFlags);
        foreach (var value in one.Values)
        {
            int at = buffer.Begin(3);
            buffer.Text(1, value.Name);
            buffer.Int64(2, value.Number);
            buffer.End(at);
        }

        buffer.End(start);
    }

    private static void WriteFields(ControlBuffer buffer, int field, ImmutableArray<ContractField> fields)
    {
        foreach (var member in fields)
        {
            int at = buffer.Begin(field);
            buffer.UInt64(1, (ulong)member.Number);
            buffer.Text(2, member.Name);
            buffer.Text(3, member.Type);
            if (member.Message is { } message)
            {
                // Left out where there is none, so that 0, the payload, must be written as something else.
                buffer.UInt64(4, (ulong)message + 1);
            }

            buffer.Text(5, member.LogicalType ?? "");
            buffer.Text(6, member.LogicalKeyType ?? "");
            buffer.UInt64(7, (ulong)((member.Enum ?? -1) + 1));
            buffer.UInt64(8, member.IsNullable switch
            {
                null => 0UL,
                false => NotNullable,
                true => Nullable,
            });
            buffer.End(at);
        }
    }

    // What the frame has room for is read; ContractLimits judges it, so that a refusal can say what is wrong. Of what comes in numbers,
    // one more than is allowed is kept.
    public static ContractDescription Read(ref ProtobufReader outer, ControlField at)
    {
        var reader = outer.ReadMessage(at);
        string typeName = "", kind = "", guarantee = "", security = "";
        var fields = ImmutableArray.CreateBuilder<ContractField>();
        var nested = ImmutableArray.CreateBuilder<ContractMessage>();
        var enums = ImmutableArray.CreateBuilder<ContractEnum>(0);
        bool isPinned = false;
        var parameters = ContractParameters.None;
        int fieldsLeft = ContractLimits.MaxFields + 1;
        int valuesLeft = ContractDisplay.MaxEnumValues + 1;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: typeName = reader.ReadText(field, int.MaxValue); break;
                case 2: kind = reader.ReadText(field, int.MaxValue); break;
                case 3: guarantee = reader.ReadText(field, int.MaxValue); break;
                case 4: security = reader.ReadText(field, int.MaxValue); break;
                case 5 when fieldsLeft > 0: fields.Add(ReadField(ref reader, field, ref fieldsLeft)); break;
                case 6 when nested.Count <= ContractLimits.MaxNested: nested.Add(ReadNested(ref reader, field, ref fieldsLeft)); break;
                case 7: isPinned = reader.ReadBool(field); break;
                case 8 when enums.Count <= ContractDisplay.MaxEnums: enums.Add(ReadEnum(ref reader, field, ref valuesLeft)); break;
                case 9: parameters = new ContractParameters(reader.ReadBytes(field)); break;
                default: reader.Skip(field); break;
            }
        }

        return ContractDisplay.Bounded(new ContractDescription
        {
            TypeName = typeName,
            Kind = kind,
            Guarantee = guarantee,
            Security = security,
            IsPinned = isPinned,
            Parameters = parameters,
            Fields = fields.DrainToImmutable(),
            Nested = nested.DrainToImmutable(),
            Enums = enums.DrainToImmutable(),
        });
    }

    private static ContractEnum ReadEnum(ref ProtobufReader outer, ControlField at, ref int valuesLeft)
    {
        var reader = outer.ReadMessage(at);
        string name = "";
        bool isFlags = false;
        var values = ImmutableArray.CreateBuilder<ContractEnumValue>(0);
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: name = reader.ReadText(field, int.MaxValue); break;
                case 2: isFlags = reader.ReadBool(field); break;
                case 3 when valuesLeft > 0: values.Add(ReadValue(ref reader, field, ref valuesLeft)); break;
                default: reader.Skip(field); break;
            }
        }

        return new ContractEnum(name, isFlags, values.DrainToImmutable());
    }

    private static ContractEnumValue ReadValue(ref ProtobufReader outer, ControlField at, ref int valuesLeft)
    {
        valuesLeft--;
        var reader = outer.ReadMessage(at);
        string name = "";
        long number = 0;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: name = reader.ReadText(field, int.MaxValue); break;
                case 2: number = reader.ReadInt64(field); break;
                default: reader.Skip(field); break;
            }
        }

        return new ContractEnumValue(name, number);
    }

    private static ContractMessage ReadNested(ref ProtobufReader outer, ControlField at, ref int fieldsLeft)
    {
        var reader = outer.ReadMessage(at);
        string name = "";
        var fields = ImmutableArray.CreateBuilder<ContractField>(0);
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: name = reader.ReadText(field, int.MaxValue); break;
                case 2 when fieldsLeft > 0: fields.Add(ReadField(ref reader, field, ref fieldsLeft)); break;
                default: reader.Skip(field); break;
            }
        }

        return new ContractMessage(name, fields.DrainToImmutable());
    }

    private static ContractField ReadField(ref ProtobufReader outer, ControlField at, ref int fieldsLeft)
    {
        fieldsLeft--;
        var reader = outer.ReadMessage(at);
        int number = 0;
        int? message = null;
        string name = "", type = "";
        string logicalType = "", logicalKeyType = "";
        int oneEnum = 0;
        ulong nullable = 0;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: number = reader.ReadInt32(field, int.MaxValue); break;
                case 2: name = reader.ReadText(field, int.MaxValue); break;
                case 3: type = reader.ReadText(field, int.MaxValue); break;
                case 4: message = reader.ReadInt32(field, int.MaxValue) - 1; break;
                case 5: logicalType = reader.ReadText(field, int.MaxValue); break;
                case 6: logicalKeyType = reader.ReadText(field, int.MaxValue); break;
                case 7: oneEnum = reader.ReadInt32(field, int.MaxValue); break;
                case 8: nullable = reader.ReadUInt64(field); break;
                default: reader.Skip(field); break;
            }
        }

        return new ContractField(number, name, type)
        {
            Message = message,
            LogicalType = logicalType.Length > 0 ? logicalType : null,
            LogicalKeyType = logicalKeyType.Length > 0 ? logicalKeyType : null,
            Enum = oneEnum > 0 ? oneEnum - 1 : null,
            // A number that is not known here says nothing.
            IsNullable = nullable switch
            {
                NotNullable => false,
                Nullable => true,
                _ => null,
            },
        };
    }
}
