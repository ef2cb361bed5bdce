using QuickSilver.Generators.Model;

namespace QuickSilver.Generators.Emit;

// The bodies of ReadFrom and ReadAnyOrder: a local per member, each member once in order, then a case per tag for what is left, and
// the construction at the end.
internal sealed class ReadText(CodeText code, CodecNames names)
{
    /// <summary>Whether to begin again costs nothing but time: nothing was allocated.</summary>
    public static bool CanBeginAnew(ContractModel contract) =>
        contract.Members.All(static member => member.Shape == MemberShape.Single && !member.Value.IsMessage && !member.Value.IsReference);

    /// <summary>Each member once in order, and from the beginning in any order where something is left. Its locals are written once,
    /// and no reader has an address.</summary>
    public void InOrder(ContractModel contract)
    {
        Members(contract);
        code.Open("if (!reader.IsAtEnd)").Line("ReadAnyOrder(outer, out value);").Line("return;").Close().Line();
        Construct(contract);
    }

    public void AnyOrder(ContractModel contract)
    {
        Members(contract);
        code.Line($"{Runtime.Protobuf}ProtobufReader rest = reader;");
        code.Open("while (rest.TryReadTag(out uint tag))").Open("switch (tag)");
        foreach (var member in contract.Members)
        {
            Cases(member);
        }

        code.Line("default:").Line("    rest.Skip(tag);").Line("    break;").Close().Close().Line();
        foreach (var member in contract.Members.Where(IsNested))
        {
            DecodeParts(member);
        }

        Construct(contract);
    }

    private void Members(ContractModel contract)
    {
        foreach (var member in contract.Members)
        {
            if (member.Shape == MemberShape.Single)
            {
                ReadInOrder(member);
            }
            else
            {
                Declare(member);
            }
        }
    }

    private static string Local(MemberModel member) => "v" + member.Number;

    private static string Parts(MemberModel member) => "parts" + member.Number;

    private static bool IsNested(MemberModel member) => member.Shape == MemberShape.Single && member.Value.IsMessage;

    private static string List(MemberModel member) => $"global::System.Collections.Generic.List<{member.Value.TypeName}>";

    private static string Set(MemberModel member) => $"global::System.Collections.Generic.HashSet<{member.Value.TypeName}>";

    private static string Dictionary(MemberModel member) =>
        $"global::System.Collections.Generic.Dictionary<{member.Key!.TypeName}, {member.Value.TypeName}>";

    private void Declare(MemberModel member)
    {
        string local = Local(member);
        code.Line(member.Shape switch
        {
            MemberShape.List => $"{List(member)}? {local} = null;",
            MemberShape.Set or MemberShape.ReadOnlySet => $"{Set(member)}? {local} = null;",
            MemberShape.Map or MemberShape.ReadOnlyMap => $"{Dictionary(member)}? {local} = null;",
            _ => $"{Runtime.Generated}RepeatedBuilder<{member.Value.TypeName}> {local} = default;",
        });
    }

    // As every writer here writes. What is not the next field costs a comparison.
    private void ReadInOrder(MemberModel member)
    {
        if (IsNested(member))
        {
            string part = "n" + member.Number;
            string condition = $"reader.TryReadBytes({ValueCode.LengthTag(member.Number)}, out global::System.ReadOnlySpan<byte> {part})";
            code.Line($"{Runtime.Parts} {Parts(member)} = {condition} ? new {Runtime.Parts}({part}) : default;");
            return;
        }

        string type = member.Value.TypeName + (member.Optional ? "?" : "");
        string absent = member.Optional ? "null" : member.Value.Default();
        (string found, string value) = member.Value.ReadNext("n" + member.Number, ValueCode.Tag(member.Number, member.Value));
        code.Line($"{type} {Local(member)} = {found} ? {value} : {absent};");
    }

    // Once, when all parts are known.
    private void DecodeParts(MemberModel member)
    {
        bool nullable = member.Optional || member.Value.IsReference;
        string read = $"{names.Qualified(member.Value)}.ReadFrom(outer.Enter({Parts(member)}))";
        string type = member.Value.TypeName + (nullable ? "?" : "");
        code.Line($"{type} {Local(member)} = {Parts(member)}.IsPresent ? {read} : {(nullable ? "null" : "default")};");
    }

    private void Cases(MemberModel member)
    {
        switch (member.Shape)
        {
            case MemberShape.Single when member.Value.IsMessage:
                Case(ValueCode.LengthTag(member.Number));
                code.Line($"    {Parts(member)}.Add(rest.ReadLengthDelimited());").Line("    break;");
                break;
            case MemberShape.Single:
                Case(ValueCode.Tag(member.Number, member.Value));
                code.Line($"    {Local(member)} = {member.Value.Read("rest", names)};").Line("    break;");
                break;
            case MemberShape.Map or MemberShape.ReadOnlyMap:
                MapCase(member);
                break;
            default:
                RepeatedCases(member);
                break;
        }
    }

    private void Case(uint tag) => code.Line($"case {tag}:");

    private void RepeatedCases(MemberModel member)
    {
        string local = Local(member);
        if (member.Value.IsPackable)
        {
            string packed = "packed" + member.Number;
            string count = member.Value.Width > 1 ? $"{packed}.CountFixed({member.Value.Width})" : $"{packed}.CountVarints()";
            Case(ValueCode.LengthTag(member.Number));
            code.Open("").Line($"{Runtime.Protobuf}ProtobufReader {packed} = rest.ReadPacked();");
            Reserve(member, count);
            code.Open($"while (!{packed}.IsAtEnd)").Line($"{local}.Add({member.Value.Read(packed, names)});").Close();
            code.Line().Line("break;").Close();
        }

        uint tag = ValueCode.Tag(member.Number, member.Value);
        Case(tag);
        code.Open("");
        Reserve(member, $"rest.CountRepeats(tag)");
        code.Line($"{local}.Add({member.Value.Read("rest", names)});").Line("break;").Close();
    }

    // A run of the same field is counted at its first element; those after it find room.
    private void Reserve(MemberModel member, string count)
    {
        string local = Local(member);
        if (member.Shape == MemberShape.List || member.IsSet)
        {
            string made = member.IsSet ? Set(member) : List(member);
            code.Open($"if ({local} is null)").Line($"{local} = new {made}({count});").Close().Line();
        }
        else
        {
            code.Open($"if ({local}.IsFull)").Line($"{local}.Reserve({count});").Close().Line();
        }
    }

    private void MapCase(MemberModel member)
    {
        var (key, value) = (member.Key!, member.Value);
        string entry = "entry" + member.Number;
        string keyLocal = "k" + member.Number;
        string valueLocal = "e" + member.Number;
        string entryTag = "tag" + member.Number;
        Case(ValueCode.LengthTag(member.Number));
        code.Open("").Line($"{Runtime.Protobuf}ProtobufReader {entry} = rest.ReadPacked();");
        code.Line($"{key.TypeName} {keyLocal} = {key.Default()};");
        code.Line(value.IsMessage ? $"{Runtime.Parts} {valueLocal} = default;" : $"{value.TypeName} {valueLocal} = {value.Default()};");
        code.Open($"while ({entry}.TryReadTag(out uint {entryTag}))").Open($"switch ({entryTag})");
        Case(ValueCode.Tag(1, key));
        code.Line($"    {keyLocal} = {key.Read(entry, names)};").Line("    break;");
        Case(ValueCode.Tag(2, value));
        code.Line(value.IsMessage
            ? $"    {valueLocal}.Add({entry}.ReadLengthDelimited());"
            : $"    {valueLocal} = {value.Read(entry, names)};");
        code.Line("    break;");
        code.Line("default:").Line($"    {entry}.Skip({entryTag});").Line("    break;").Close().Close().Line();
        // A message that did not come is an empty one.
        string given = value.IsMessage ? $"{names.Qualified(value)}.ReadFrom({entry}.Enter({valueLocal}))" : valueLocal;
        code.Line($"{Local(member)} ??= new {Dictionary(member)}();");
        code.Line($"{Local(member)}[{keyLocal}] = {given};").Line("break;").Close();
    }

    private void Construct(ContractModel contract)
    {
        string arguments = string.Join(", ", contract.Arguments.Select(index => Result(contract.Members[index])));
        string made = $"new {contract.TypeName}({arguments})";
        if (contract.Initializers.Count == 0)
        {
            code.Line($"value = {made};");
            return;
        }

        code.Open($"value = {made}");
        foreach (int index in contract.Initializers)
        {
            code.Line($"{contract.Members[index].Identifier} = {Result(contract.Members[index])},");
        }

        code.CloseStatement();
    }

    private static string Result(MemberModel member)
    {
        string local = Local(member);
        return member.Shape switch
        {
            // A message that did not come is null, as in every protobuf library, even where the member says that it cannot be.
            MemberShape.Single => !member.Optional && member.Value is { IsMessage: true, IsReference: true } ? local + "!" : local,
            MemberShape.List => member.Optional ? local : $"{local} ?? new {List(member)}()",
            MemberShape.Set or MemberShape.ReadOnlySet => member.Optional ? local : $"{local} ?? new {Set(member)}()",
            MemberShape.Map or MemberShape.ReadOnlyMap => member.Optional ? local : $"{local} ?? new {Dictionary(member)}()",
            MemberShape.ImmutableArray => $"{local}.ToImmutableArray()",
            _ => member.Optional ? $"{local}.ToArrayOrNull()" : $"{local}.ToArray()",
        };
    }
}
