using System.Globalization;
using System.Text;
using QuickSilver.Membership.Contracts;
using QuickSilver.Serialization.Dynamic;

namespace QuickSilver.Tool.Catalog.Sources;

// The enums of a contract in proto3, where a value has 32 bits and a sign, the first is 0, and names are unique among all enums. A flags
// enum, and one with larger values, is an integer there.
internal sealed class ProtoEnums
{
    private readonly ContractDescription _contract;
    private readonly string?[] _names;
    private readonly ProtoNames _all;

    public ProtoEnums(ContractDescription contract, ProtoNames names)
    {
        _contract = contract;
        _all = names;
        _names =
        [
            .. contract.Enums.Select(one => one.IsFlags || one.Values.Any(static value => value.Number != (int)value.Number)
                ? null
                : names.Of(CSharpNames.LastWord(one.Name), "Values")),
        ];
    }

    /// <summary>The enum that the field is; null if it is an integer.</summary>
    public string? TypeOf(ContractField field) => field.Enum is { } at && (uint)at < (uint)_names.Length
        && FieldForm.Of(field.Type).Value is ValueForm.Int32 or ValueForm.UInt32 or ValueForm.Int64 or ValueForm.UInt64
            ? _names[at]
            : null;

    public void Write(StringBuilder text)
    {
        for (int at = 0; at < _names.Length; at++)
        {
            if (_names[at] is { } name)
            {
                Write(text, _contract.Enums[at], name);
            }
        }
    }

    private void Write(StringBuilder text, ContractEnum described, string name)
    {
        // The first name counts for reading, as in the tools.
        var values = described.Values.OrderBy(static value => value.Number == 0 ? 0 : 1).ToList();
        if (values is not [{ Number: 0 }, ..])
        {
            values.Insert(0, new ContractEnumValue("Unspecified", 0));
        }

        text.Append(CultureInfo.InvariantCulture, $"\nenum {name} {{\n");
        if (values.DistinctBy(static value => value.Number).Count() < values.Count)
        {
            text.Append("  option allow_alias = true;\n");
        }

        foreach (var (value, number) in values)
        {
            text.Append(CultureInfo.InvariantCulture, $"  {_all.Of($"{name}_{value}", $"{name}_Value")} = {number};\n");
        }

        text.Append("}\n");
    }
}
