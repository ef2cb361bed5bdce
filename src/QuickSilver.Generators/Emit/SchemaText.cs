using QuickSilver.Generators.Model;

namespace QuickSilver.Generators.Emit;

// The schema: the contract's own fields, and each message type within it once, numbered in the order of its first occurrence.
internal sealed class SchemaText(CodeText code, CodecNames names)
{
    private const string AsImmutable = "global::System.Runtime.InteropServices.ImmutableCollectionsMarshal.AsImmutableArray";

    private readonly List<ContractModel> _messages = [];
    private readonly Dictionary<string, int> _numbers = [];

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
        bool isFlat = _messages.Count == 1;
        code.Line($"    {AsImmutable}(fields0)){(isFlat ? ";" : "")}");
        if (!isFlat)
        {
            Nested();
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
            string held = member.Value.IsMessage ? $" {{ Message = {NumberOf(names.Contract(member.Value))} }}" : "";
            code.Line($"{field}{held},");
        }

        code.CloseStatement();
    }

    private void Nested()
    {
        code.Open("");
        code.Line($"Nested = {AsImmutable}(new {Runtime.Codecs}PayloadMessage[]").Open("");
        for (int message = 1; message < _messages.Count; message++)
        {
            code.Line($"new {Runtime.Codecs}PayloadMessage({Literal(_messages[message].Word)}, {AsImmutable}(fields{message})),");
        }

        code.Close(")").CloseStatement();
    }
}
