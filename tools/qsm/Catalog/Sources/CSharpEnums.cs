using System.Globalization;
using System.Text;
using QuickSilver.Membership.Contracts;
using QuickSilver.Serialization;
using QuickSilver.Serialization.Dynamic;

namespace QuickSilver.Tool.Catalog.Sources;

// The enums of a contract in C#. An enum has the integer type of the first field that is one. A field of another integer type, which a
// sound contract does not have, is an integer.
internal sealed class CSharpEnums
{
    private readonly ContractDescription _contract;
    private readonly (string Name, string Underlying)?[] _enums;

    public CSharpEnums(ContractDescription contract, CSharpNames names)
    {
        _contract = contract;
        _enums = new (string Name, string Underlying)?[contract.Enums.Length];
        for (int message = 0; message <= contract.Nested.Length; message++)
        {
            foreach (var field in contract.FieldsOf(message))
            {
                if (field.Enum is { } at && (uint)at < (uint)_enums.Length && _enums[at] is null
                    && Underlying(FieldForm.Of(field.Type).Value, field) is { } underlying)
                {
                    _enums[at] = (names.Of(CSharpNames.LastWord(contract.Enums[at].Name), "Values"), underlying);
                }
            }
        }
    }

    /// <summary>The enum that the field is; null if it is none.</summary>
    public string? TypeOf(ContractField field, ValueForm form) =>
        field.Enum is { } at && (uint)at < (uint)_enums.Length && _enums[at] is { } one && one.Underlying == Underlying(form, field)
            ? one.Name
            : null;

    public void Write(StringBuilder text)
    {
        for (int at = 0; at < _enums.Length; at++)
        {
            if (_enums[at] is { } one)
            {
                Write(text, _contract.Enums[at], one.Name, one.Underlying);
            }
        }
    }

    private static void Write(StringBuilder text, ContractEnum described, string name, string underlying)
    {
        text.Append('\n');
        if (described.IsFlags)
        {
            text.Append("[System.Flags]\n");
        }

        text.Append(CultureInfo.InvariantCulture, $"public enum {name}{(underlying == "int" ? "" : $" : {underlying}")}\n{{\n");
        var members = new CSharpNames("value__");
        foreach (var (member, number) in described.Values)
        {
            if (Literal(number, underlying) is { } literal)
            {
                text.Append(CultureInfo.InvariantCulture, $"    {members.Of(member, "Value")} = {literal},\n");
            }
        }

        text.Append("}\n");
    }

    private static string? Literal(long number, string underlying)
    {
        var (least, greatest) = underlying switch
        {
            "sbyte" => (sbyte.MinValue, sbyte.MaxValue),
            "byte" => (byte.MinValue, byte.MaxValue),
            "short" => (short.MinValue, short.MaxValue),
            "ushort" => (ushort.MinValue, ushort.MaxValue),
            "int" => (int.MinValue, int.MaxValue),
            "uint" => (uint.MinValue, uint.MaxValue),
            _ => (long.MinValue, long.MaxValue),
        };
        return number < least || number > greatest ? null
            : underlying == "ulong" ? ((ulong)number).ToString(CultureInfo.InvariantCulture)
            : number.ToString(CultureInfo.InvariantCulture);
    }

    private static string? Underlying(ValueForm form, ContractField field) =>
        form is ValueForm.Int32 or ValueForm.Int64 or ValueForm.UInt32 or ValueForm.UInt64 && field.LogicalType != LogicalType.Char
            ? CSharpTypes.Plain(form, field.LogicalType)
            : null;
}
