using FsCheck;
using FsCheck.Fluent;
using Microsoft.CodeAnalysis;
using QuickSilver.Generators.Tests.Contracts;
using QuickSilver.Generators.Tests.Infrastructure;
using QuickSilver.Membership.Contracts;
using QuickSilver.Tool.Catalog.Sources;

namespace QuickSilver.Tool.Tests.Catalog;

// The source text that the shell prints for a topic: whatever the names in its contract are, it compiles without a warning.
public sealed class CSharpStubTests
{
    private const string Usings = "global using System.Threading; global using System.Threading.Tasks;";

    internal static readonly string[] Names =
    [
        "Flight", "flight", "class", "record", "async", "var", "value", "field", "", " ", "1st", "a b", "a-b", "Ж", "✈", "\"", "\\", "*/",
        "//", "\n", "\u2028", "\ud800", "}", "{ }", "ToString", "Equals", "GetType", "List", "Guid",
        "System", "Task", "T", "Message", "Name", "_",
        "__", "Topic", "global", "QuickSilver", "Flight2", "<b>", "&amp;", "nint", "required", new('n', 1000),
    ];

    private static readonly Gen<ContractField> Fields =
        from number in Gen.Choose(1, 40)
        from name in Gen.Elements(Names)
        from value in Gen.Elements(
            "int32", "string", "bytes", "bool", "double", "bcl.Guid", "bcl.DateTime", "uint128", "message", "message",
            "sint32", "Odd \n type")
        from form in Gen.Elements("{0}", "{0}", "repeated {0}", "map<string, {0}>", "map<int32, {0}>", "map<double, {0}>")
        from message in Gen.Choose(0, 3)
        from logical in Gen.Elements(null, null, "char", "byte", "int16", "dateOnly", "uri", "subtype", "Odd")
        from key in Gen.Elements(null, "char", "sbyte")
        from oneEnum in Gen.Elements<int?>(null, null, 0, 1, 7)
        from nullable in Gen.Elements<bool?>(null, true, false)
        select new ContractField(number, name, string.Format(System.Globalization.CultureInfo.InvariantCulture, form, value))
        {
            Message = value == "message" ? message : null,
            LogicalType = logical,
            LogicalKeyType = key,
            Enum = oneEnum,
            IsNullable = nullable,
        };

    internal static readonly Gen<ContractDescription> Contracts =
        from type in Gen.Elements(Names)
        from fields in Fields.ListOf(6)
        from nested in Fields.ListOf(4).ListOf(3)
        from names in Gen.Elements(Names).ListOf(3)
        from values in Gen.Elements(Names).ListOf(4)
        from numbers in Gen.Elements(0, 1, 255, -1, long.MinValue, long.MaxValue).ListOf(4)
        from enumNames in Gen.Elements(Names).ListOf(2)
        select new ContractDescription
        {
            TypeName = type,
            Kind = "message",
            Guarantee = "Reliable",
            Fields = [.. Sound(fields)],
            Nested = [.. nested.Select((more, at) => new ContractMessage(names[at], [.. Sound(more)]))],
            Enums =
            [
                .. enumNames.Select((name, at) => new ContractEnum(
                    name, at == 0, [.. values.Zip(numbers, static (value, number) => new ContractEnumValue(value, number))])),
            ],
        };

    [Fact]
    public void The_text_for_any_contract_compiles_without_a_warning() => Prop.ForAll(
        (from topic in Gen.Elements(Names)
         from contract in Contracts
         from space in Gen.Elements("Demo", "Demo.Contracts", null)
         select (topic, contract, space)).ToArbitrary(),
        static one =>
        {
            string source = CSharpStub.Of(one.topic, one.contract, one.space);
            var compilation = Driver.Compile(
                source, "Consumer", MetadataReference.CreateFromFile(typeof(QuickSilverNode).Assembly.Location));
            compilation = compilation.AddSyntaxTrees(Microsoft.CodeAnalysis.CSharp.CSharpSyntaxTree.ParseText(Usings));
            var complaints = Driver.Complaints(compilation);
            Assert.True(complaints.Count == 0, string.Join('\n', complaints.Append(source)));
        }).Check(Config.QuickThrowOnFailure.WithMaxTest(25));

    [Fact]
    public void Enums_nullable_members_and_types_are_those_of_the_contract()
    {
        var contract = SchemaContract.Of(Codecs.Of<Displayed>().Schema) with { Guarantee = "Reliable" };
        string source = CSharpStub.Of("displays", contract, null);
        Assert.Contains("[System.Flags]\npublic enum Doors : byte\n{\n    None = 0,\n    Left = 1,", source);
        Assert.Contains("public enum Largest : ulong\n{\n    Zero = 0,\n    All = 18446744073709551615,", source);
        foreach (string member in new[]
        {
            "Doors Open", "Largest Largest", "Dictionary<char, Doors> ByLetter", "List<DateOnly> Days", "TimeOnly? At", "char Letter",
            "Color? Color", "Wide Wide", "string? Note", "Uri Page", "short Small", "Half Share", "List<byte> Bytes",
        })
        {
            Assert.Contains($"    public {member} {{ get; set; }}", source);
        }
    }

    [Fact]
    public void Subtypes_are_marked_in_words()
    {
        var contract = SchemaContract.Of(Codecs.Of<Movement>().Schema) with { Guarantee = "Reliable" };
        string source = CSharpStub.Of("movements", contract, null);
        Assert.Contains("    // A subtype of Movement: a value has one of the members of this kind, and the others are null.\n", source);
    }

    private static IEnumerable<ContractField> Sound(IEnumerable<ContractField> fields) =>
        fields.DistinctBy(static field => field.Number).OrderBy(static field => field.Number);
}
