using Microsoft.CodeAnalysis;
using QuickSilver.Generators.Model;

namespace QuickSilver.Generators.Reading;

// Members, elements and values of maps that are a DateTime.
internal static class LostKinds
{
    public static IEnumerable<Problem> In(INamedTypeSymbol type)
    {
        foreach (var member in type.GetMembers())
        {
            var memberType = (member as IPropertySymbol)?.Type ?? (member as IFieldSymbol)?.Type;
            if (memberType is not null && member.Attribute(KnownTypes.DataMember) is not null
                && TypeReader.Read(memberType).Value?.Kind == ValueKind.DateTime)
            {
                string text = memberType.ToDisplayString(SymbolDisplayFormat.MinimallyQualifiedFormat);
                yield return new Problem(Rules.LostKind, member, type.Name, member.Name, text);
            }
        }
    }
}
