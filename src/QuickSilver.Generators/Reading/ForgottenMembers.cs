using Microsoft.CodeAnalysis;

namespace QuickSilver.Generators.Reading;

// A contract without data members is sound, and says nothing: right for a signal, and a mistake where the type has state.
internal static class ForgottenMembers
{
    public static Problem? Find(INamedTypeSymbol type)
    {
        ISymbol? forgotten = null;
        foreach (var member in type.WithBases().SelectMany(static one => one.GetMembers()))
        {
            if (member.Attribute(KnownTypes.DataMember) is not null)
            {
                return null;
            }

            forgotten ??= IsState(member) && member.Attribute(KnownTypes.IgnoreDataMember) is null ? member : null;
        }

        return forgotten is null ? null : new Problem(Rules.NoMembers, type, type.Name, forgotten.Name);
    }

    private static bool IsState(ISymbol member) =>
        member is { IsStatic: false, DeclaredAccessibility: Accessibility.Public }
        && member is IFieldSymbol { IsReadOnly: false, IsImplicitlyDeclared: false }
            or IPropertySymbol { IsIndexer: false, GetMethod: not null, SetMethod.DeclaredAccessibility: Accessibility.Public };
}
