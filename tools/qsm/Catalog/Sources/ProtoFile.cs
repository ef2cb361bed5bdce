using System.Globalization;
using System.Text;
using QuickSilver.Membership.Contracts;
using QuickSilver.Serialization;
using QuickSilver.Serialization.Dynamic;

namespace QuickSilver.Tool.Catalog.Sources;

// A contract as a file of proto3, with which programs in other languages read and write the topic's payloads. The contract is not
// trusted: whatever its names are, the file is valid. What protobuf cannot say is left out, and a comment says so.
internal sealed class ProtoFile
{
    private const int FirstReserved = 19_000;
    private const int LastReserved = 19_999;

    private readonly StringBuilder _text = new();
    private readonly ContractDescription _contract;
    private readonly string[] _messages;
    private readonly ProtoEnums _enums;
    private readonly HashSet<string> _dotNetTypes = [];

    private ProtoFile(ContractDescription contract)
    {
        _contract = contract;
        var names = new ProtoNames(ProtoDotNetTypes.Names);
        _messages =
        [
            .. Enumerable.Range(0, contract.Nested.Length + 1)
                .Select(message => names.Of(CSharpNames.LastWord(contract.NameOf(message)), "Message")),
        ];
        _enums = new ProtoEnums(contract, names);
    }

    /// <summary>The text of the file.</summary>
    /// <param name="topic">The name of the topic.</param>
    /// <param name="contract">A contract of the kind "message".</param>
    /// <param name="space">The namespace of the types that are generated for C#; null: none.</param>
    public static string Of(string topic, ContractDescription contract, string? space)
    {
        var file = new ProtoFile(contract);
        file.Write(topic, space);
        return file._text.ToString();
    }

    private void Write(string topic, string? space)
    {
        Line($"// The payload of the topic {SafeText.Of(topic)} is one {_messages[0]}.");
        Line("syntax = \"proto3\";");
        if (space is not null)
        {
            Line("");
            Line($"option csharp_namespace = \"{space}\";");
        }

        for (int message = 0; message < _messages.Length; message++)
        {
            Line("");
            WriteMessage(message);
        }

        _enums.Write(_text);
        foreach (string type in ProtoDotNetTypes.Names.Where(_dotNetTypes.Contains))
        {
            Line("");
            _text.Append(ProtoDotNetTypes.TextOf(type));
        }
    }

    private void WriteMessage(int message)
    {
        Line($"message {_messages[message]} {{");
        var names = new ProtoNames();
        var fields = _contract.FieldsOf(message);
        foreach (var field in fields.Where(static field => !IsSubtype(field)))
        {
            Line("  " + FieldOf(field, names));
        }

        ContractField[] subtypes = [.. fields.Where(IsSubtype)];
        if (subtypes.Length > 0)
        {
            Line("  // The subtypes: a value has one of them.");
            Line($"  oneof {names.Of("subtype", "subtype", isMap: false)} {{");
            foreach (var subtype in subtypes)
            {
                Line("    " + FieldOf(subtype, names));
            }

            Line("  }");
        }

        Line("}");
    }

    // What a oneof can hold.
    private static bool IsSubtype(ContractField field) => field is { LogicalType: LogicalType.Subtype, Message: not null }
        && !IsReserved(field)
        && FieldForm.Of(field.Type) is { Shape: FieldShape.Single, Value: ValueForm.Message };

    private static bool IsReserved(ContractField field) => field.Number is >= FirstReserved and <= LastReserved;

    private string FieldOf(ContractField field, ProtoNames names)
    {
        string number = field.Number.ToString(CultureInfo.InvariantCulture);
        string name = names.Of(field.Name, "field" + number, FieldForm.Of(field.Type).Shape == FieldShape.Map);
        return TypeOf(field) is { } type && !IsReserved(field)
            ? $"{type} {name} = {number}{OptionsOf(field)};{Remark(field)}"
            : $"// Field {number}, '{SafeText.Of(field.Name)}', is left out: there is no type for '{SafeText.Of(field.Type)}'.";
    }

    private string? TypeOf(ContractField field)
    {
        var form = FieldForm.Of(field.Type);
        if (ValueOf(form.Value, field) is not { } value)
        {
            return null;
        }

        return form.Shape switch
        {
            FieldShape.Repeated => $"repeated {value}",
            FieldShape.Map => $"map<{WordOf(form.Key)}, {value}>",
            // A message that did not come is absent anyway.
            _ when field.IsNullable == true && (!value.StartsWith('.') || _enums.TypeOf(field) is not null) => $"optional {value}",
            _ => value,
        };
    }

    private string? ValueOf(ValueForm form, ContractField field)
    {
        if (_enums.TypeOf(field) is { } named)
        {
            return "." + named;
        }

        if (form == ValueForm.Message)
        {
            return field.Message is { } message ? "." + _messages[message] : "bytes";
        }

        if (ProtoDotNetTypes.NameOf(form) is { } type)
        {
            _dotNetTypes.Add(type);
            return "." + type;
        }

        return form is ValueForm.Int128 or ValueForm.UInt128 ? "bytes" : WordOf(form);
    }

    // Of a type that both call by one name.
    private static string? WordOf(ValueForm form) => form is > ValueForm.Unknown and <= ValueForm.Bytes
        ? form.ToString().ToLowerInvariant()
        : null;

    private static string OptionsOf(ContractField field) =>
        FieldForm.Of(field.Type).Shape == FieldShape.Repeated && field.LogicalType is LogicalType.DateOnly or LogicalType.TimeOnly
            ? " [packed = false]"
            : "";

    // What the type does not say.
    private static string Remark(ContractField field) => (field.LogicalType, FieldForm.Of(field.Type).Value) switch
    {
        (LogicalType.DateOnly, ValueForm.Int32) => "  // Days since January 1, 0001.",
        (LogicalType.TimeOnly, ValueForm.Int64) => "  // Ticks of 100 ns since midnight.",
        (LogicalType.Char, ValueForm.UInt32) => "  // A UTF-16 code.",
        (LogicalType.SByte or LogicalType.Int16 or LogicalType.Byte or LogicalType.UInt16, <= ValueForm.UInt64) when field.Enum is null =>
            $"  // A number of the type {field.LogicalType}.",
        (_, ValueForm.Int128 or ValueForm.UInt128) => "  // 16 bytes, the lowest first.",
        _ => "",
    };

    private void Line(string line) => _text.Append(line).Append('\n');
}
