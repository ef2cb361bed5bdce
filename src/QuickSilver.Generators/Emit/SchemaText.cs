using QuickSilver.Generators.Model;

namespace QuickSilver.Generators.Emit;

// The schema: the contract's own fields, and each message type and each enum within it once, numbered in the order of its first occurrence.
internal sealed class SchemaText(CodeText code, CodecNames names)
{
    private const string AsImmutable = "global::System.Runtime.InteropServices.ImmutableCollectionsMarshal.AsImmutableArray";

    private readonly List<ContractModel> _messages = [];
    private readonly Dictionary<string, int> _numbers = [];
    private readonly List<EnumModel> _enums = [];
    private readonly Dictionary<string, int> _enumNumbers = [];

    public static string Literal(string text) => Microsoft.CodeAnalysis.CSharp.SymbolDisplay.FormatLiteral(text, quote: true);

    public void Describe(ContractModel contract)
    {
        code.Open($"private static {Runtime.Codecs}PayloadSchema DescribeSchema()");
        NumberOf(contract);
        Fields(0);
        // The list grows as its messages are found to hold others.
        for (int message = 1; message < _messages.Count; message++)
        {
            Fields(message);
        }

        code.Line($"return new {Runtime.Codecs}PayloadSchema(").Line($"    {Literal(contract.SchemaName)},");
        code.Line($"    {Runtime.Codecs}PayloadSchema.MessageKind,");
        bool isFlat = _messages.Count == 1 && _enums.Count == 0;
        code.Line($"    {AsImmutable}(fields0)){(isFlat ? ";" : "")}");
        if (!isFlat)
        {
            code.Open("");
            Nested();
            Enums();
            code.CloseStatement();
        }

        code.Close();
    }

    private int NumberOf(ContractModel contract)
    {
        if (!_numbers.TryGetValue(contract.TypeName, out int number))
        {
            number = _messages.Count;
            _numbers.Add(contract.TypeName, number);
            _messages.Add(contract);
        }

        return number;
    }

    private void Fields(int message)
    {
        code.Open($"{Runtime.Codecs}PayloadField[] fields{message} = new {Runtime.Codecs}PayloadField[]");
        foreach (var member in _messages[message].Members)
        {
            string field = $"new {Runtime.Codecs}PayloadField({member.Number}, {Literal(member.WireName)}, {Literal(member.TypeWord)})";
            code.Line($"{field} {{ {string.Join(", ", Properties(member))} }},");
        }

        code.CloseStatement();
    }

    private IEnumerable<string> Properties(MemberModel member)
    {
        if (member.Value.IsMessage)
        {
            yield return $"Message = {NumberOf(names.Contract(member.Value))}";
        }

        if (member.Value.LogicalType is { } logical)
        {
            yield return $"LogicalType = {Literal(logical)}";
        }

        if (member.Key?.LogicalType is { } key)
        {
            yield return $"LogicalKeyType = {Literal(key)}";
        }

        if (member.Value.Enum is not null)
        {
            yield return $"Enum = {NumberOfEnum(member.Value)}";
        }

        yield return $"IsNullable = {(member.Optional ? "true" : "false")}";
    }

    private int NumberOfEnum(ValueModel value)
    {
        if (!_enumNumbers.TryGetValue(value.TypeName, out int number))
        {
            number = _enums.Count;
            _enumNumbers.Add(value.TypeName, number);
            _enums.Add(value.Enum!);
        }

        return number;
    }

    private void Nested()
    {
        code.Line($"Nested = {AsImmutable}(new {Runtime.Codecs}PayloadMessage[]").Open("");
        for (int message = 1; message < _messages.Count; message++)
        {
            code.Line($"new {Runtime.Codecs}PayloadMessage({Literal(_messages[message].Word)}, {AsImmutable}(fields{message})),");
        }

        code.Close("),");
    }

    private void Enums()
    {
        code.Line($"Enums = {AsImmutable}(new {Runtime.Codecs}PayloadEnum[]").Open("");
        foreach (var one in _enums)
        {
            code.Line($"new {Runtime.Codecs}PayloadEnum({Literal(one.Name)}, {AsImmutable}(new {Runtime.Codecs}PayloadEnumValue[]");
            code.Open("");
            foreach (var value in one.Values)
            {
                string number = value.Number == long.MinValue
                    ? "long.MinValue"
                    : value.Number.ToString(System.Globalization.CultureInfo.InvariantCulture);
                code.Line($"new {Runtime.Codecs}PayloadEnumValue({Literal(value.Name)}, {number}),");
            }

            code.Close($")) {{ IsFlags = {(one.IsFlags ? "true" : "false")} }},");
        }

        code.Close("),");
    }
}
