using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using QuickSilver.Generators.Model;

namespace QuickSilver.Generators.Reading;

internal sealed record ContractMember(ISymbol Symbol, ITypeSymbol Type, MemberModel Model);

// How a value is made from its members: by the constructor with the fewest parameters that, together with an object
// initializer, sets them all. A parameter stands for the member of its name (whatever the case) and type.
internal sealed record ConstructionPlan(ImmutableArray<int> Arguments, ImmutableArray<int> Initializers)
{
    public static ConstructionPlan? Find(
        Compilation compilation, INamedTypeSymbol type, List<ContractMember> members, List<Problem> problems)
    {
        if (type.IsAbstract)
        {
            problems.Add(new Problem(
                Rules.NoUsableConstructor, type, type.Name,
                "it is abstract; send a concrete type, or declare its subtypes with [Subtype(n, typeof(S))]"));
            return null;
        }

        var constructors = type.InstanceConstructors
            .Where(constructor => compilation.IsSymbolAccessibleWithin(constructor, compilation.Assembly))
            .OrderBy(constructor => constructor.Parameters.Length)
            .ToList();
        ISymbol? unset = null;
        string? unmetRequired = null;
        foreach (var constructor in constructors)
        {
            if (Arguments(constructor) is not { } arguments)
            {
                continue;
            }

            bool setsRequired = constructor.Attribute(KnownTypes.SetsRequiredMembers) is not null;
            var initializers = ImmutableArray.CreateBuilder<int>();
            ISymbol? missing = null;
            for (int i = 0; i < members.Count; i++)
            {
                var symbol = members[i].Symbol;
                bool passed = arguments.Contains(i);
                if (passed && (setsRequired || !IsRequired(symbol)))
                {
                    continue;
                }

                if (IsSettable(compilation, symbol))
                {
                    initializers.Add(i);
                }
                else if (!passed)
                {
                    missing ??= symbol;
                }
            }

            string? required = setsRequired ? null : UnmetRequired(type, members);
            if (missing is null && required is null)
            {
                return new ConstructionPlan(arguments, initializers.ToImmutable());
            }

            unset ??= missing;
            unmetRequired ??= required;
        }

        problems.Add((unset, unmetRequired) switch
        {
            (not null, _) => new Problem(Rules.UnusableMember, unset, type.Name, unset.Name,
                "cannot be set: give it a set or init accessor, or a constructor parameter of the same name and type"),
            (_, not null) => new Problem(Rules.NoUsableConstructor, type, type.Name,
                $"'{unmetRequired}' is required but not a [DataMember]; mark it [DataMember] or remove 'required'"),
            _ => new Problem(Rules.NoUsableConstructor, type, type.Name,
                "add an accessible parameterless constructor, or one whose parameters match its members by name and type"),
        });
        return null;

        ImmutableArray<int>? Arguments(IMethodSymbol constructor)
        {
            var found = ImmutableArray.CreateBuilder<int>();
            foreach (var parameter in constructor.Parameters)
            {
                int index = members.FindIndex(member =>
                    string.Equals(member.Symbol.Name, parameter.Name, StringComparison.OrdinalIgnoreCase) &&
                    parameter.RefKind is RefKind.None or RefKind.In &&
                    SymbolEqualityComparer.Default.Equals(member.Type, parameter.Type));
                if (index < 0)
                {
                    return null;
                }

                found.Add(index);
            }

            return found.ToImmutable();
        }
    }

    private static bool IsSettable(Compilation compilation, ISymbol symbol) => symbol switch
    {
        IPropertySymbol { SetMethod: { } setter } => compilation.IsSymbolAccessibleWithin(setter, compilation.Assembly),
        IFieldSymbol field => !field.IsReadOnly && !field.IsConst,
        _ => false,
    };

    private static bool IsRequired(ISymbol symbol) => symbol is IPropertySymbol { IsRequired: true } or IFieldSymbol { IsRequired: true };

    private static string? UnmetRequired(INamedTypeSymbol type, List<ContractMember> members) =>
        type.WithBases().SelectMany(static one => one.GetMembers()).FirstOrDefault(member =>
            IsRequired(member) && !members.Any(known => SymbolEqualityComparer.Default.Equals(known.Symbol, member)))?.Name;
}
