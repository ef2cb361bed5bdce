using QuickSilver.Generators.Model;

namespace QuickSilver.Generators.Emit;

// The flattened schema. A type on the path above itself is not entered again, and the list is cut where PayloadSchema says.
internal sealed class SchemaText(CodecNames names)
{
    private const int MaxFields = 1024;

    private readonly List<string> _fields = [];
    private readonly HashSet<string> _path = [];

    public IReadOnlyList<string> Fields(ContractModel contract)
    {
        Add(contract, "");
        return _fields;
    }

    public static string Literal(string text) => Microsoft.CodeAnalysis.CSharp.SymbolDisplay.FormatLiteral(text, quote: true);

    private void Add(ContractModel contract, string prefix)
    {
        _path.Add(contract.TypeName);
        foreach (var member in contract.Members)
        {
            if (_fields.Count == MaxFields)
            {
                break;
            }

            string name = prefix + member.WireName;
            _fields.Add($"new {ValueCode.Runtime}PayloadField({member.Number}, {Literal(name)}, {Literal(member.TypeWord)}),");
            if (member.Value.IsMessage && !_path.Contains(member.Value.TypeName))
            {
                Add(names.Contract(member.Value), name + ".");
            }
        }

        _path.Remove(contract.TypeName);
    }
}
