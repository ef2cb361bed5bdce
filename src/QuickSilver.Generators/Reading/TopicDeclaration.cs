using System.Globalization;
using Microsoft.CodeAnalysis;

namespace QuickSilver.Generators.Reading;

// What a payload type declares about its topic. The guarantee is the number of the enumeration's value.
internal sealed class TopicDeclaration(INamedTypeSymbol type, string? name, int guarantee, INamedTypeSymbol attribute, Location location)
{
    public INamedTypeSymbol Type => type;

    public string? Name => name;

    public int Guarantee => guarantee;

    public string GuaranteeName => NameOf(guarantee);

    /// <summary>The attribute, where the type is of this compilation.</summary>
    public Location Location => location;

    /// <summary>The declaration of a type; null if it has none.</summary>
    public static TopicDeclaration? Of(ITypeSymbol type)
    {
        if (type is not INamedTypeSymbol named || type.Attribute(KnownTypes.Topic) is not { AttributeClass: { } attribute } data)
        {
            return null;
        }

        string? name = data.ConstructorArguments.Length == 1 ? data.ConstructorArguments[0].Value as string : null;
        int guarantee = data.Argument(KnownTypes.Guarantee) is int given ? given : 0;
        var location = data.ApplicationSyntaxReference?.GetSyntax().GetLocation() ?? Location.None;
        return new TopicDeclaration(named, name, guarantee, attribute, location);
    }

    /// <summary>The name of a value of the enumeration, for display.</summary>
    public string NameOf(int value)
    {
        var values = attribute.GetMembers(KnownTypes.Guarantee).OfType<IPropertySymbol>().FirstOrDefault()?.Type.GetMembers() ?? [];
        return values.OfType<IFieldSymbol>().FirstOrDefault(one => one.ConstantValue is int number && number == value)?.Name
            ?? value.ToString(CultureInfo.InvariantCulture);
    }
}
