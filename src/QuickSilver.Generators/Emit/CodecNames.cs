using System.Text;
using QuickSilver.Generators.Model;

namespace QuickSilver.Generators.Emit;

// The contracts that get a codec in this assembly, and what their codecs are called. The namespace carries the assembly's
// name, so that friends of this assembly, which see its internals, may have a codec of the same type.
internal sealed class CodecNames
{
    private readonly Dictionary<string, string> _codecs = [];
    private readonly Dictionary<string, ContractModel> _contracts = [];

    public CodecNames(string assemblyName, IEnumerable<ContractModel> contracts)
    {
        Namespace = "QuickSilver.Generated." + Identifier(assemblyName);
        var taken = new HashSet<string>();
        foreach (var contract in contracts)
        {
            string name = Identifier(contract.TypeName.Replace("global::", "")) + "Codec";
            string unique = name;
            for (int i = 2; !taken.Add(unique); i++)
            {
                unique = name + i;
            }

            _codecs.Add(contract.TypeName, unique);
            _contracts.Add(contract.TypeName, contract);
        }
    }

    public string Namespace { get; }

    public string Of(ContractModel contract) => _codecs[contract.TypeName];

    public string Qualified(ValueModel message) => $"global::{Namespace}.{_codecs[message.TypeName]}";

    public ContractModel Contract(ValueModel message) => _contracts[message.TypeName];

    private static string Identifier(string name)
    {
        var text = new StringBuilder(name.Length);
        foreach (char c in name)
        {
            if (c != '@')
            {
                text.Append(char.IsLetterOrDigit(c) ? c : '_');
            }
        }

        return text.Length > 0 && char.IsDigit(text[0]) ? "_" + text : text.ToString();
    }
}
