using System.Globalization;
using System.Text;
using QuickSilver.Membership.Contracts;
using QuickSilver.Serialization;
using QuickSilver.Serialization.Dynamic;

namespace QuickSilver.Tool.Catalog.Sources;

// The types of a topic and a typed opener, as source text in C# that compiles in a project with the package QuickSilver. The contract is
// not trusted: whatever its names are, they become identifiers and literals.
internal sealed class CSharpStub
{
    // What the text itself names, and what every class has.
    private static readonly string[] UsedTypes =
    [
        "List", "Dictionary", "Guid", "DateTime", "DateTimeOffset", "TimeSpan", "Int128", "UInt128", "Task", "CancellationToken",
        "DataContract", "DataContractAttribute", "DataMember", "DataMemberAttribute", "QuickSilverNode", "TopicOptions",
        "Guarantee", "ITopic", "ITopicPublisher", "ITopicSubscriber", "ReadOnlyMemory", "Object", "String",
        "Type", "Attribute", "System", "QuickSilver", "DateOnly", "TimeOnly", "Half", "Uri", "UriKind",
    ];

    private static readonly string[] UsedMembers =
        ["Equals", "Finalize", "GetHashCode", "GetType", "MemberwiseClone", "ReferenceEquals", "ToString"];

    private readonly StringBuilder _text = new();
    private readonly ContractDescription _contract;
    private readonly string[] _types;
    private readonly CSharpEnums _enums;
    private readonly CSharpNames _names = new(UsedTypes);

    private CSharpStub(ContractDescription contract)
    {
        _contract = contract;
        _types = contract.Kind == PayloadSchema.MessageKind
            ?
            [
                .. Enumerable.Range(0, contract.Nested.Length + 1)
                    .Select(message => _names.Of(CSharpNames.LastWord(contract.NameOf(message)), "Message")),
            ]
            : [];
        _enums = new CSharpEnums(contract, _names);
    }

    /// <summary>The source text.</summary>
    public static string Of(string topic, ContractDescription contract, string? space)
    {
        var stub = new CSharpStub(contract);
        stub.Write(topic, space);
        return stub._text.ToString();
    }

    private void Write(string topic, string? space)
    {
        Line("using System.Runtime.Serialization;");
        Line("using QuickSilver;");
        Line("");
        if (space is not null)
        {
            Line($"namespace {space};");
            Line("");
        }

        WriteOpener(topic);
        for (int message = 0; message < _types.Length; message++)
        {
            Line("");
            WriteType(message);
        }

        _enums.Write(_text);
    }

    private void WriteOpener(string topic)
    {
        string payload = _contract.Kind switch
        {
            PayloadSchema.MessageKind => _types[0],
            PayloadSchema.StringKind => "string",
            _ => "ReadOnlyMemory<byte>",
        };
        string name = _names.Of(CSharpNames.Pascal(topic) is { Length: > 0 } pascal ? pascal + "Topic" : "Topic", "Topic");
        string options = _contract.Guarantee == nameof(Guarantee.Reliable)
            ? "null"
            : $"new TopicOptions {{ Guarantee = Guarantee.{_contract.Guarantee} }}";
        Line($"/// <summary>Opens the topic {Comment(topic)}.</summary>");
        Line($"public static class {name}");
        Line("{");
        Line($"    public const string Name = {CSharpNames.Literal(topic)};");
        foreach (var (half, result, does) in new[]
        {
            ("Topic", "ITopic", "to publish and to subscribe"),
            ("Publisher", "ITopicPublisher", "to publish"),
            ("Subscriber", "ITopicSubscriber", "to subscribe"),
        })
        {
            Line("");
            Line($"    /// <summary>Opens the topic {does}.</summary>");
            Line($"    public static Task<{result}<{payload}>> Open{half}Async(");
            Line("        QuickSilverNode node, CancellationToken cancellationToken = default) =>");
            Line($"        node.Open{half}Async<{payload}>(Name, {options}, cancellationToken);");
        }

        Line("}");
    }

    private void WriteType(int message)
    {
        string type = _types[message];
        string name = _contract.NameOf(message);
        Line(message == 0 && name.Length > 0 ? $"[DataContract(Name = {CSharpNames.Literal(name)})]" : "[DataContract]");
        Line($"public sealed class {type}");
        Line("{");
        var members = new CSharpNames([.. UsedMembers, type.TrimStart('@')]);
        foreach (var field in _contract.FieldsOf(message))
        {
            string order = string.Create(CultureInfo.InvariantCulture, $"Order = {field.Number}");
            if (TypeOf(field) is not { } memberType)
            {
                Line($"    // Field {field.Number}, '{Comment(field.Name)}', is left out: there is no type for '{Comment(field.Type)}'.");
                continue;
            }

            string member = members.Of(field.Name, string.Create(CultureInfo.InvariantCulture, $"Field{field.Number}"));
            string given = member.TrimStart('@') == field.Name ? "" : $", Name = {CSharpNames.Literal(field.Name)}";
            if (field.LogicalType == LogicalType.Subtype && FieldForm.Of(field.Type).Value == ValueForm.Message)
            {
                Line($"    // A subtype of {type}: a value has one of the members of this kind, and the others are null.");
            }

            Line($"    [DataMember({order}{given})]");
            Line($"    public {memberType.Type} {member} {{ get; set; }}{memberType.Initial}");
            Line("");
        }

        if (_text[^2] == '\n')
        {
            _text.Length -= 1;
        }

        Line("}");
    }

    // A collection that may be null arrives as null when it is empty, and a message that did not come is null. So the one never is, and the
    // other always may be. Where nothing is known, a value is not null, and a reference may be.
    private (string Type, string Initial)? TypeOf(ContractField field)
    {
        var form = FieldForm.Of(field.Type);
        if (CSharpTypes.ValueOf(form.Value, field, _types, _enums) is not { } value)
        {
            return null;
        }

        bool isReference = form.Value is ValueForm.String or ValueForm.Bytes or ValueForm.Message;
        bool isNullable = field.IsNullable != false ? isReference || field.IsNullable == true : form.Value == ValueForm.Message;
        return form.Shape switch
        {
            FieldShape.Repeated => ($"List<{value}>", " = [];"),
            FieldShape.Map when CSharpTypes.KeyOf(form.Key, field) is { } key => ($"Dictionary<{key}, {value}>", " = [];"),
            FieldShape.Map => null,
            _ when isNullable => (value + "?", ""),
            _ => (value, CSharpTypes.InitialOf(value)),
        };
    }

    // Within a comment, on its line.
    private static string Comment(string text) =>
        string.Concat(SafeText.Of(text).Select(static c => c switch
        {
            '<' => "&lt;",
            '>' => "&gt;",
            '&' => "&amp;",
            '\u2028' or '\u2029' or '\u0085' => " ",
            _ => c.ToString(),
        }));

    private void Line(string line) => _text.Append(line).Append('\n');
}
