using QuickSilver.Membership.Contracts;
using QuickSilver.Serialization;
using QuickSilver.Serialization.Dynamic;

namespace QuickSilver.Tool.Catalog.Sources;

// The C# types of fields: those whose generated codec writes the same word.
internal static class CSharpTypes
{
    /// <summary>The type of the value, or of a collection's elements; null if there is none.</summary>
    public static string? ValueOf(ValueForm form, ContractField field, string[] messages, CSharpEnums enums) =>
        enums.TypeOf(field, form) ?? form switch
        {
            ValueForm.Message => field.Message is { } message ? messages[message] : null,
            ValueForm.String when field.LogicalType == LogicalType.Uri => "Uri",
            ValueForm.Float when field.LogicalType == LogicalType.Half => "Half",
            ValueForm.Int32 when field.LogicalType == LogicalType.DateOnly => "DateOnly",
            ValueForm.Int64 when field.LogicalType == LogicalType.TimeOnly => "TimeOnly",
            _ => Plain(form, field.LogicalType),
        };

    /// <summary>The type of a map's keys; null if there is none.</summary>
    public static string? KeyOf(ValueForm form, ContractField field) => Plain(form, field.LogicalKeyType);

    /// <summary>What follows a property that is not null.</summary>
    public static string InitialOf(string type) => type switch
    {
        "string" => " = \"\";",
        "byte[]" => " = [];",
        "Uri" => " = new(\"\", UriKind.RelativeOrAbsolute);",
        _ => "",
    };

    /// <summary>The integer, char or other type without a name of its own in a contract.</summary>
    public static string? Plain(ValueForm form, string? logical) => (form, logical) switch
    {
        (ValueForm.Int32, LogicalType.SByte) => "sbyte",
        (ValueForm.Int32, LogicalType.Int16) => "short",
        (ValueForm.UInt32, LogicalType.Byte) => "byte",
        (ValueForm.UInt32, LogicalType.UInt16) => "ushort",
        (ValueForm.UInt32, LogicalType.Char) => "char",
        _ => form switch
        {
            ValueForm.Int32 => "int",
            ValueForm.Int64 => "long",
            ValueForm.UInt32 => "uint",
            ValueForm.UInt64 => "ulong",
            ValueForm.Bool => "bool",
            ValueForm.Float => "float",
            ValueForm.Double => "double",
            ValueForm.String => "string",
            ValueForm.Bytes => "byte[]",
            ValueForm.Decimal => "decimal",
            ValueForm.Guid => "Guid",
            ValueForm.DateTime => "DateTime",
            ValueForm.DateTimeOffset => "DateTimeOffset",
            ValueForm.TimeSpan => "TimeSpan",
            ValueForm.Int128 => "Int128",
            ValueForm.UInt128 => "UInt128",
            _ => null,
        },
    };
}
