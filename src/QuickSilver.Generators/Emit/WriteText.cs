using QuickSilver.Generators.Model;

namespace QuickSilver.Generators.Emit;

// The bodies of Measure and WriteTo: one walk over the members, written twice so that the two cannot differ in what they leave out.
internal sealed class WriteText(CodeText code, CodecNames names, bool measures)
{
    private const string Collections = "global::System.Collections.Generic.";

    public void Member(MemberModel member)
    {
        string local = "m" + member.Number;
        string access = "value." + member.Identifier;
        switch (member.Shape)
        {
            case MemberShape.Single:
                Single(member, local, access);
                break;
            case MemberShape.Map or MemberShape.ReadOnlyMap:
                Map(member, local, access);
                break;
            default:
                Repeated(member, local, access);
                break;
        }
    }

    private void Single(MemberModel member, string local, string access)
    {
        var value = member.Value;
        if (member.Optional)
        {
            code.Open($"if ({access} is {{ }} {local})");
            Field(member.Number, value, local);
            code.Close();
            return;
        }

        bool always = member.AlwaysWritten && !value.IsMessage;
        string guarded = always && value.IsReference ? $"{access} ?? {value.Default()}" : access;
        code.Line($"{value.TypeName} {local} = {guarded};");
        Guarded(always ? null : value.IsNotDefault(local), member.Number, value, local);
    }

    private void Repeated(MemberModel member, string local, string access)
    {
        var value = member.Value;
        string span = $"global::System.ReadOnlySpan<{value.TypeName}>";
        bool indexed = member.Shape == MemberShape.ReadOnlyList;
        bool counted = indexed || member.IsSet || member.Shape == MemberShape.ReadOnlyCollection;
        string count = counted ? $"{local}.Count" : $"{local}.Length";
        code.Line(member.Shape switch
        {
            MemberShape.List => $"{span} {local} = global::System.Runtime.InteropServices.CollectionsMarshal.AsSpan({access});",
            MemberShape.ImmutableArray => $"{span} {local} = {access}.AsSpan();",
            MemberShape.Array => $"{span} {local} = {access};",
            _ => $"{Collections}{Interface(member.Shape)}<{value.TypeName}>? {local} = {access};",
        });
        string element = "e" + member.Number;
        if (value.IsPacked)
        {
            code.Open(counted ? $"if ({local} is {{ Count: > 0 }})" : $"if (!{local}.IsEmpty)");
            Packed(member, local, element, count);
            code.Close();
            return;
        }

        if (indexed)
        {
            code.Open($"for (int i = 0; i < ({local}?.Count ?? 0); i++)").Line($"{value.TypeName} {element} = {local}![i];");
        }
        else
        {
            if (counted)
            {
                code.Open($"if ({local} is not null)");
            }

            code.Open($"foreach ({value.TypeName} {element} in {local})");
        }

        RefuseNull(value, element, member);
        Field(member.Number, value, element);
        code.Close();
        if (counted && !indexed)
        {
            code.Close();
        }
    }

    // A HashSet itself, whose enumerator is a struct; an interface's is allocated.
    private static string Interface(MemberShape shape) => shape switch
    {
        MemberShape.ReadOnlyList => "IReadOnlyList",
        MemberShape.ReadOnlyCollection => "IReadOnlyCollection",
        MemberShape.Set => "HashSet",
        _ => "IReadOnlySet",
    };

    private void Packed(MemberModel member, string local, string element, string count)
    {
        var value = member.Value;
        string length = "l" + member.Number;
        int tagSize = ValueCode.TagSize(member.Number);
        if (measures && value.Width > 0)
        {
            code.Line($"size += {tagSize} + {Runtime.Protobuf}ProtobufSize.LengthDelimited({count} * {value.Width});");
            return;
        }

        code.Line(measures ? $"int {length} = 0;" : $"int {length} = writer.BeginLength({ValueCode.LengthTag(member.Number)});");
        if (member.Shape == MemberShape.ReadOnlyList)
        {
            code.Open($"for (int i = 0; i < {count}; i++)").Line($"{value.TypeName} {element} = {local}[i];");
        }
        else
        {
            code.Open($"foreach ({value.TypeName} {element} in {local})");
        }

        code.Line(measures ? $"{length} += {value.Size(element, names)};" : value.WritePacked(element)).Close();
        code.Line(measures
            ? $"size += {tagSize} + {Runtime.Protobuf}ProtobufSize.LengthDelimited({length});"
            : $"writer.EndLength({length});");
    }

    private void Map(MemberModel member, string local, string access)
    {
        var (key, value) = (member.Key!, member.Value);
        string pair = "p" + member.Number;
        string length = "l" + member.Number;
        string keyLocal = "k" + member.Number;
        string valueLocal = "e" + member.Number;
        string map = member.Shape == MemberShape.Map ? "Dictionary" : "IReadOnlyDictionary";
        code.Line($"{Collections}{map}<{key.TypeName}, {value.TypeName}>? {local} = {access};");
        code.Open($"if ({local} is not null)");
        code.Open($"foreach (global::System.Collections.Generic.KeyValuePair<{key.TypeName}, {value.TypeName}> {pair} in {local})");
        code.Line($"{key.TypeName} {keyLocal} = {pair}.Key;").Line($"{value.TypeName} {valueLocal} = {pair}.Value;");
        RefuseNull(value, valueLocal, member);
        if (measures)
        {
            code.Line($"int {length} = 0;");
            Guarded(key.IsNotDefaultInEntry(keyLocal), 1, key, keyLocal, length);
            Guarded(value.IsNotDefaultInEntry(valueLocal), 2, value, valueLocal, length);
            code.Line($"size += {ValueCode.TagSize(member.Number)} + {Runtime.Protobuf}ProtobufSize.LengthDelimited({length});");
        }
        else
        {
            code.Line($"int {length} = writer.BeginLength({ValueCode.LengthTag(member.Number)});");
            Guarded(key.IsNotDefaultInEntry(keyLocal), 1, key, keyLocal);
            Guarded(value.IsNotDefaultInEntry(valueLocal), 2, value, valueLocal);
            code.Line($"writer.EndLength({length});");
        }

        code.Close().Close();
    }

    private void Guarded(string? condition, int number, ValueModel value, string x, string into = "size")
    {
        if (condition is not null)
        {
            code.Open($"if ({condition})");
        }

        Field(number, value, x, into);
        if (condition is not null)
        {
            code.Close();
        }
    }

    private void Field(int number, ValueModel value, string x, string into = "size")
    {
        if (measures)
        {
            code.Line($"{into} += {ValueCode.TagSize(number)} + {value.Size(x, names)};");
        }
        else
        {
            code.Line(value.WriteField(number, x, names));
        }
    }

    private void RefuseNull(ValueModel value, string x, MemberModel member)
    {
        if (value.IsReference)
        {
            code.Open($"if ({x} is null)").Line($"{Runtime.Protobuf}ProtobufLimits.ThrowNullElement(\"{member.DisplayName}\");").Close();
        }
    }
}
