using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using QuickSilver.Generators.Model;

namespace QuickSilver.Generators.Reading;

// The names of an enum's values, in the order of their declaration.
internal static class EnumReader
{
    private const string Flags = "System.FlagsAttribute";

    public static EnumModel Read(ITypeSymbol type)
    {
        var values = ImmutableArray.CreateBuilder<EnumValueModel>();
        foreach (var member in type.GetMembers())
        {
            if (member is IFieldSymbol { HasConstantValue: true } field)
            {
                values.Add(new EnumValueModel(field.Name, Number(field.ConstantValue!)));
            }
        }

        return new EnumModel(type.Name, type.Attribute(Flags) is not null, new EquatableArray<EnumValueModel>(values.ToImmutable()));
    }

    private static long Number(object constant) => constant is ulong bits
        ? unchecked((long)bits)
        : System.Convert.ToInt64(constant, System.Globalization.CultureInfo.InvariantCulture);
}
