using Microsoft.CodeAnalysis;
using QuickSilver.Generators.Model;

namespace QuickSilver.Generators.Reading;

// The declared subtypes of a type, each as a field that holds its message: a value has exactly one of them.
internal static class SubtypeReader
{
    /// <param name="type">The type that declares them.</param>
    /// <param name="problems">Where problems go.</param>
    /// <param name="readForeign">Reads a contract of another assembly. Returns the reason when it cannot be used.</param>
    public static List<MemberModel> Read(INamedTypeSymbol type, List<Problem> problems, Func<INamedTypeSymbol, string?> readForeign)
    {
        if (type is { TypeKind: TypeKind.Class, IsAbstract: false })
        {
            problems.Add(new Problem(Rules.SubtypesOfConcreteType, type, type.Name));
        }

        var members = new List<MemberModel>();
        foreach (var attribute in type.GetAttributes().Where(static one => one.AttributeClass?.ToDisplayString() == KnownTypes.Subtype))
        {
            int number = attribute.ConstructorArguments.Length > 0 && attribute.ConstructorArguments[0].Value is int given ? given : 0;
            if (attribute.ConstructorArguments.Length < 2 || attribute.ConstructorArguments[1].Value is not INamedTypeSymbol subtype)
            {
                problems.Add(new Problem(Rules.InvalidSubtype, type, type.Name, "null", "it must be a class or a struct"));
                continue;
            }

            string name = attribute.Argument("Name") as string ?? subtype.Name;
            if ((Reason(type, subtype) ?? ReasonOfNumber(number, members, subtype) ?? readForeign(subtype)) is { } reason)
            {
                problems.Add(new Problem(Rules.InvalidSubtype, type, type.Name, subtype.Name, reason));
                continue;
            }

            var value = new ValueModel(ValueKind.Message, subtype.Qualified(), "message", subtype.IsReferenceType, IsEnum: false)
            {
                IsSubtype = true,
            };
            members.Add(new MemberModel(
                number, subtype.Name, $"{type.Name}.{subtype.Name}", name, MemberShape.Single, true, false, value, null));
        }

        members.Sort(static (left, right) => left.Number.CompareTo(right.Number));
        return members;
    }

    private static string? Reason(INamedTypeSymbol type, INamedTypeSymbol subtype)
    {
        if (subtype.IsGenericType)
        {
            return "it is generic, and has no single schema";
        }

        if (SymbolEqualityComparer.Default.Equals(type, subtype) || !DerivesFrom(subtype, type))
        {
            return type.TypeKind == TypeKind.Interface ? $"it does not implement '{type.Name}'" : $"it does not derive from '{type.Name}'";
        }

        if (subtype.IsAbstract || subtype.HasSubtypes())
        {
            return "it is abstract or has subtypes of its own; declare those here";
        }

        return subtype.IsContract() ? null : "mark it [DataContract] and its members [DataMember(Order = n)]";
    }

    private static string? ReasonOfNumber(int number, List<MemberModel> members, INamedTypeSymbol subtype)
    {
        if (!ContractReader.IsNumber(number))
        {
            return $"its number is {number}; use 1 to 536870911, except 19000 to 19999, which protobuf reserves";
        }

        if (members.Find(member => member.Number == number) is { } other)
        {
            return $"'{other.Identifier}' has the same number {number}; give it one that was never used in this type";
        }

        return members.Exists(member => member.Value.TypeName == subtype.Qualified()) ? "it is declared twice" : null;
    }

    private static bool DerivesFrom(INamedTypeSymbol subtype, INamedTypeSymbol type) =>
        (type.TypeKind == TypeKind.Interface ? subtype.AllInterfaces : subtype.WithBases())
            .Contains(type, SymbolEqualityComparer.Default);
}
