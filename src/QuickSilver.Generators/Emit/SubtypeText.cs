using QuickSilver.Generators.Model;

namespace QuickSilver.Generators.Emit;

// The bodies of the codec of a type with subtypes: a value is the field of its subtype and nothing else.
internal sealed class SubtypeText(CodeText code, ContractModel contract, CodecNames names)
{
    private readonly string _type = contract.TypeName;

    public void Measure()
    {
        code.Open($"internal static int Measure(in {_type} value, int depth)").Open("checked");
        code.Line($"{Runtime.Protobuf}ProtobufLimits.CheckDepth(depth);");
        Each(member => code.Line($"return {ValueCode.TagSize(member.Number)} + {member.Value.Size(Cast(member), names)};"));
        code.Close().Close().Line();
    }

    public void WriteTo()
    {
        code.Open($"internal static int WriteTo({Runtime.Protobuf}ProtobufWriter outer, in {_type} value)");
        code.Line($"{Runtime.Protobuf}ProtobufWriter writer = outer;");
        Each(member => code.Line(member.Value.WriteField(member.Number, Cast(member), names)).Line("return writer.Written;"));
        code.Close().Line();
    }

    public void ReadFrom()
    {
        code.Open($"internal static {_type} ReadFrom({Runtime.Protobuf}ProtobufReader reader)");
        code.Line($"ReadFrom(reader, out {_type} value);").Line("return value;").Close().Line();
        code.Open($"private static void ReadFrom({Runtime.Protobuf}ProtobufReader outer, out {_type} value)");
        code.Line($"{Runtime.Protobuf}ProtobufReader reader = outer;").Line($"{Runtime.Parts} parts = default;").Line("uint subtype = 0;");
        code.Open("while (reader.TryReadTag(out uint tag))").Open("switch (tag)");
        foreach (var member in contract.Members)
        {
            code.Line($"case {ValueCode.LengthTag(member.Number)}:");
        }

        // Of several, which no writer here makes, the last one counts, and consecutive ones of the same are one, as in every protobuf
        // library. The others are read too: bytes that are damaged there are refused.
        code.Line("    if (tag != subtype && parts.IsPresent)").Line("    {").Line("        _ = Subtype(outer, subtype, parts);");
        code.Line("    }").Line().Line("    parts = tag == subtype ? parts : default;");
        code.Line("    parts.Add(reader.ReadLengthDelimited());").Line("    subtype = tag;").Line("    break;");
        code.Line("default:").Line("    reader.Skip(tag);").Line("    break;").Close().Close().Line();
        code.Line("value = Subtype(outer, subtype, parts);").Close().Line();
        SubtypeOf();
    }

    private void SubtypeOf()
    {
        string arguments = $"{Runtime.Protobuf}ProtobufReader outer, uint subtype, {Runtime.Parts} parts";
        code.Open($"private static {_type} Subtype({arguments}) => subtype switch");
        foreach (var member in contract.Members)
        {
            code.Line($"{ValueCode.LengthTag(member.Number)} => {names.Qualified(member.Value)}.ReadFrom(outer.Enter(parts)),");
        }

        code.Line($"_ => throw {Runtime.Generated}Subtypes.Unknown<{_type}>(),").CloseStatement().Line();
    }

    private static string Cast(MemberModel member) => $"({member.Value.TypeName})value";

    // A class that derives from a subtype is not that subtype: its own members would be lost.
    private void Each(Action<MemberModel> body)
    {
        foreach (var member in contract.Members)
        {
            code.Open($"if (value.GetType() == typeof({member.Value.TypeName}))");
            body(member);
            code.Close().Line();
        }

        code.Line($"throw {Runtime.Generated}Subtypes.Undeclared<{_type}>(value);");
    }
}
