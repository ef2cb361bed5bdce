using System.Collections.Immutable;
using System.Text;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Text;
using QuickSilver.Generators.Emit;
using QuickSilver.Generators.Model;
using QuickSilver.Generators.Reading;

namespace QuickSilver.Generators;

/// <summary>Writes a codec for every <c>[DataContract]</c> type, and registers them when the assembly is loaded.</summary>
[Generator(LanguageNames.CSharp)]
public sealed class CodecGenerator : IIncrementalGenerator
{
    /// <summary>The name of the step that reads contracts, for tests of what an edit runs again.</summary>
    public const string ContractsStep = "Contracts";

    /// <inheritdoc/>
    public void Initialize(IncrementalGeneratorInitializationContext context)
    {
        var contracts = Find(context, KnownTypes.DataContract).WithTrackingName(ContractsStep);
        var bases = Find(context, KnownTypes.Subtype);
        var assembly = context.CompilationProvider.Select(static (compilation, _) =>
            compilation.GetTypeByMetadataName(KnownTypes.Codec) is null ? null : compilation.AssemblyName ?? "Program");
        context.RegisterSourceOutput(
            contracts.Collect().Combine(bases.Collect()).Combine(assembly),
            static (output, source) => Write(output, source.Left.Left!, source.Left.Right!, source.Right));
    }

    private static IncrementalValuesProvider<ContractClosure?> Find(IncrementalGeneratorInitializationContext context, string attribute) =>
        context.SyntaxProvider
            .ForAttributeWithMetadataName(
                attribute,
                static (node, _) => node is TypeDeclarationSyntax,
                static (found, _) => Read(found))
            .Where(static closure => closure is not null);

    private static ContractClosure? Read(GeneratorAttributeSyntaxContext found)
    {
        return found.TargetSymbol is INamedTypeSymbol type
            ? ContractReader.Read(found.SemanticModel.Compilation, type).Closure
            : null;
    }

    // A type may have both attributes, and is then the same in both.
    private static void Write(
        SourceProductionContext output,
        ImmutableArray<ContractClosure> contracts,
        ImmutableArray<ContractClosure> bases,
        string? assemblyName)
    {
        var own = new Dictionary<string, ContractModel>();
        var all = new Dictionary<string, ContractModel>();
        foreach (var closure in contracts.AddRange(bases))
        {
            own[closure.Contract.TypeName] = all[closure.Contract.TypeName] = closure.Contract;
            foreach (var foreign in closure.Foreign)
            {
                all[foreign.TypeName] = foreign;
            }
        }

        RemoveIncomplete(all);
        if (assemblyName is null || all.Count == 0)
        {
            return;
        }

        var ordered = all.Values.OrderBy(contract => contract.TypeName, StringComparer.Ordinal).ToList();
        var names = new CodecNames(assemblyName, ordered);
        foreach (var contract in ordered)
        {
            output.AddSource(names.Of(contract) + ".g.cs", SourceText.From(CodecText.Codec(contract, names), Encoding.UTF8));
        }

        string registration = CodecText.Registration(ordered.Where(contract => own.ContainsKey(contract.TypeName)), names);
        output.AddSource("CodecRegistration.g.cs", SourceText.From(registration, Encoding.UTF8));
    }

    // A contract that holds one with a problem gets no codec either: the analyzer's message should be the only error.
    private static void RemoveIncomplete(Dictionary<string, ContractModel> contracts)
    {
        List<string> broken;
        do
        {
            broken = contracts.Values
                .Where(contract => contract.Members.Any(member => member.Value.IsMessage && !contracts.ContainsKey(member.Value.TypeName)))
                .Select(contract => contract.TypeName)
                .ToList();
            foreach (string name in broken)
            {
                contracts.Remove(name);
            }
        }
        while (broken.Count > 0);
    }
}
