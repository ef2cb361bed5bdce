using Microsoft.CodeAnalysis;

namespace QuickSilver.Generators.Reading;

// State of a contract that is not sent. A contract without data members is sound, and says nothing: right for a signal, and a mistake where
// the type has state.
internal static class ForgottenMembers
{
    /// <summary>One problem for a type without data members, or one for each member that is none.</summary>
    public static IEnumerable<Problem> In(INamedTypeSymbol type)
    {
        var all = type.WithBases().SelectMany(static one => one.GetMembers()).ToList();
        if (type.HasSubtypes() || all.Any(static member => member.DataMemberAttribute() is not null))
        {
            // Those of a base are reported there.
            return type.GetMembers().Where(IsForgotten)
                .Select(member => new Problem(Rules.ForgottenMember, member, type.Name, member.Name));
        }

        return all.Where(IsForgotten).Take(1).Select(member => new Problem(Rules.NoMembers, type, type.Name, member.Name));
    }

    private static bool IsForgotten(ISymbol member) => IsState(member)
        && member.DataMemberAttribute() is null
        && member.Attribute(KnownTypes.IgnoreDataMember) is null
        && member.Attribute(KnownTypes.ProtoIgnore) is null;

    private static bool IsState(ISymbol member) =>
        member is { IsStatic: false, DeclaredAccessibility: Accessibility.Public }
        && member is IFieldSymbol { IsReadOnly: false, IsImplicitlyDeclared: false }
            or IPropertySymbol { IsIndexer: false, GetMethod: not null, SetMethod.DeclaredAccessibility: Accessibility.Public };
}
