using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using QuickSilver.Generators.Model;

namespace QuickSilver.Generators.Reading;

// Reads one contract type. The analyzer takes the problems, the generator the model, which is null when there are any.
internal sealed class ContractReader
{
    private const int MaxNumber = 536_870_911;
    private const int FirstReserved = 19_000;
    private const int LastReserved = 19_999;

    private readonly Compilation _compilation;
    private readonly INamedTypeSymbol _type;
    private readonly Dictionary<string, ContractModel> _foreign;
    private readonly HashSet<string> _visited;
    private readonly List<Problem> _problems = [];

    private ContractReader(
        Compilation compilation, INamedTypeSymbol type, Dictionary<string, ContractModel> foreign, HashSet<string> visited)
    {
        _compilation = compilation;
        _type = type;
        _foreign = foreign;
        _visited = visited;
    }

    public static (ContractClosure? Closure, List<Problem> Problems) Read(Compilation compilation, INamedTypeSymbol type)
    {
        var foreign = new Dictionary<string, ContractModel>();
        var reader = new ContractReader(compilation, type, foreign, []);
        var model = reader.Read();
        if (model is null)
        {
            return (null, reader._problems);
        }

        var ordered = foreign.Values.OrderBy(contract => contract.TypeName, StringComparer.Ordinal).ToImmutableArray();
        return (new ContractClosure(model, new(ordered)), reader._problems);
    }

    private ContractModel? Read()
    {
        if (!_compilation.IsSymbolAccessibleWithin(_type, _compilation.Assembly) || IsFileLocal(_type))
        {
            // Its members are out of reach for the same reason; one report is enough.
            _problems.Add(new Problem(Rules.InaccessibleContract, _type, _type.Name));
            return null;
        }

        if (_type.IsGenericType)
        {
            // Nothing can be said of members whose types are open.
            _problems.Add(new Problem(Rules.OpenGenericContract, _type, _type.Name));
            return null;
        }

        if (_type.HasSubtypes())
        {
            return ReadSubtypes();
        }

        CheckType();
        var members = ReadMembers();
        var plan = _problems.Count == 0 ? ConstructionPlan.Find(_compilation, _type, members, _problems) : null;
        if (plan is null || _problems.Count > 0)
        {
            return null;
        }

        return ModelOf(members.Select(static member => member.Model)) with
        {
            Arguments = new(plan.Arguments),
            Initializers = new(plan.Initializers),
        };
    }

    public static bool IsNumber(int number) => number is >= 1 and <= MaxNumber and not (>= FirstReserved and <= LastReserved);

    private ContractModel? ReadSubtypes()
    {
        var members = SubtypeReader.Read(_type, _problems, ReadForeign);
        return _problems.Count > 0 ? null : ModelOf(members) with { HasSubtypes = true };
    }

    private ContractModel ModelOf(IEnumerable<MemberModel> members)
    {
        string? givenName = _type.Attribute(KnownTypes.DataContract)?.Argument("Name") as string;
        return new ContractModel(
            _type.Qualified(),
            givenName ?? _type.ToDisplayString(),
            givenName ?? _type.Name,
            _type.IsReferenceType,
            new(members.ToImmutableArray()),
            default,
            default);
    }

    private void CheckType()
    {
        // A base that declares its subtypes has members to inherit, and no state besides.
        if (_type.TypeKind == TypeKind.Class && _type.WithBases().Skip(1).FirstOrDefault(static one => !one.HasSubtypes()) is { } parent)
        {
            _problems.Add(new Problem(Rules.ContractInheritance, _type, _type.Name, parent.ToDisplayString()));
        }

        if (_type.IsRefLikeType)
        {
            _problems.Add(new Problem(Rules.NoUsableConstructor, _type, _type.Name, "it is a ref struct; make it a struct or a class"));
        }
    }

    private List<ContractMember> ReadMembers()
    {
        var members = new List<ContractMember>();
        var names = new HashSet<string>();
        foreach (var symbol in _type.WithBases().SelectMany(static type => type.GetMembers()))
        {
            // What a class overrides or hides is not a member of its base any more.
            if (symbol is IPropertySymbol or IFieldSymbol && names.Add(symbol.Name) &&
                symbol.DataMemberAttribute() is { } attribute &&
                ReadMember(symbol, attribute) is { } member)
            {
                members.Add(member);
            }
        }

        members.Sort((left, right) => left.Model.Number.CompareTo(right.Model.Number));
        for (int i = 1; i < members.Count; i++)
        {
            if (members[i].Model.Number == members[i - 1].Model.Number)
            {
                var (first, second) = (members[i - 1], members[i]);
                Report(Rules.DuplicateOrder, second.Symbol, second.Model.Number.ToString(), first.Symbol.Name);
            }
        }

        return members;
    }

    private ContractMember? ReadMember(ISymbol symbol, AttributeData attribute)
    {
        var type = symbol is IPropertySymbol property ? property.Type : ((IFieldSymbol)symbol).Type;
        int number = attribute.Argument("Order") is int order ? order : -1;
        if (number == -1)
        {
            Report(Rules.MissingOrder, symbol);
        }
        else if (!IsNumber(number))
        {
            Report(Rules.OrderOutOfRange, symbol, number.ToString());
        }

        if (ReasonNotReadable(symbol) is { } reason)
        {
            Report(Rules.UnusableMember, symbol, reason);
        }

        var shape = TypeReader.Read(type);
        string? advice = shape.Advice ?? (shape.Contract is INamedTypeSymbol contract ? ReadForeign(contract) : null);
        if (advice is not null)
        {
            Report(Rules.UnsupportedMemberType, symbol, type.ToDisplayString(SymbolDisplayFormat.MinimallyQualifiedFormat), advice);
            return null;
        }

        var model = new MemberModel(
            number,
            SyntaxFacts.GetKeywordKind(symbol.Name) == SyntaxKind.None ? symbol.Name : "@" + symbol.Name,
            $"{_type.Name}.{symbol.Name}",
            attribute.Argument("Name") as string ?? symbol.Name,
            shape.Shape,
            shape.Optional,
            attribute.Argument("IsRequired") is true,
            shape.Value!,
            shape.Key);
        return new ContractMember(symbol, type, model);
    }

    // Reads a contract of another assembly into the closure. Returns the reason when it cannot be used.
    private string? ReadForeign(INamedTypeSymbol contract)
    {
        bool own = SymbolEqualityComparer.Default.Equals(contract.ContainingAssembly, _compilation.Assembly);
        if (own || !_visited.Add(contract.Qualified()))
        {
            return null;
        }

        var reader = new ContractReader(_compilation, contract, _foreign, _visited);
        if (reader.Read() is { } model)
        {
            _foreign.Add(model.TypeName, model);
            return null;
        }

        return $"its assembly '{contract.ContainingAssembly.Name}' must fix this: {reader._problems[0].Text}";
    }

    private string? ReasonNotReadable(ISymbol symbol)
    {
        if (symbol.IsStatic)
        {
            return "is static: make it an instance member or remove [DataMember]";
        }

        if (symbol is IPropertySymbol { IsIndexer: true })
        {
            return "is an indexer: remove [DataMember]";
        }

        bool readable = symbol is IFieldSymbol ||
            (symbol is IPropertySymbol { GetMethod: { } getter } && _compilation.IsSymbolAccessibleWithin(getter, _compilation.Assembly));
        return readable && symbol.CanBeReferencedByName && _compilation.IsSymbolAccessibleWithin(symbol, _compilation.Assembly)
            ? null
            : "cannot be read by generated code: make it internal or public, with a getter";
    }

    private void Report(DiagnosticDescriptor rule, ISymbol member, params string[] more) =>
        _problems.Add(new Problem(rule, member, [_type.Name, member.Name, .. more]));

    private static bool IsFileLocal(INamedTypeSymbol type)
    {
        for (var at = type; at is not null; at = at.ContainingType)
        {
            if (at.IsFileLocal)
            {
                return true;
            }
        }

        return false;
    }
}
