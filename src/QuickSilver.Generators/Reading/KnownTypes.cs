using Microsoft.CodeAnalysis;

namespace QuickSilver.Generators.Reading;

// The names that mean something to the generator.
internal static class KnownTypes
{
    public const string DataContract = "System.Runtime.Serialization.DataContractAttribute";
    public const string DataMember = "System.Runtime.Serialization.DataMemberAttribute";
    public const string IgnoreDataMember = "System.Runtime.Serialization.IgnoreDataMemberAttribute";
    public const string ProtoIgnore = "ProtoBuf.ProtoIgnoreAttribute";
    public const string SetsRequiredMembers = "System.Diagnostics.CodeAnalysis.SetsRequiredMembersAttribute";
    public const string Subtype = "QuickSilver.Serialization.SubtypeAttribute";
    public const string Codec = "QuickSilver.Serialization.IPayloadCodec`1";
    public const string PrefixOptions = "QuickSilver.PrefixOptions`1";

    public const string Topic = "QuickSilver.TopicAttribute";
    public const string TopicOptions = "QuickSilver.TopicOptions";
    // A property of both.
    public const string Guarantee = "Guarantee";

    public const string Node = "QuickSilver.QuickSilverNode";
    public const string HostBuilder = "QuickSilver.Hosting.QuickSilverBuilder";
    public const string Subscriber = "QuickSilver.ITopicSubscriber`1";
    public const string Message = "QuickSilver.Message`1";

    public const string List = "System.Collections.Generic.List<T>";
    public const string ReadOnlyList = "System.Collections.Generic.IReadOnlyList<T>";
    public const string ReadOnlyCollection = "System.Collections.Generic.IReadOnlyCollection<T>";
    public const string Set = "System.Collections.Generic.HashSet<T>";
    public const string ReadOnlySet = "System.Collections.Generic.IReadOnlySet<T>";
    public const string ImmutableArray = "System.Collections.Immutable.ImmutableArray<T>";
    public const string Dictionary = "System.Collections.Generic.Dictionary<TKey, TValue>";
    public const string ReadOnlyDictionary = "System.Collections.Generic.IReadOnlyDictionary<TKey, TValue>";
    public const string ReadOnlyMemory = "System.ReadOnlyMemory<T>";
    public const string Guid = "System.Guid";
    public const string TimeSpan = "System.TimeSpan";
    public const string DateTimeOffset = "System.DateTimeOffset";
    public const string DateOnly = "System.DateOnly";
    public const string TimeOnly = "System.TimeOnly";
    public const string Half = "System.Half";
    public const string Int128 = "System.Int128";
    public const string UInt128 = "System.UInt128";
    public const string Uri = "System.Uri";

    public static AttributeData? Attribute(this ISymbol symbol, string name) =>
        symbol.GetAttributes().FirstOrDefault(attribute => attribute.AttributeClass?.ToDisplayString() == name);

    /// <summary>The attribute of a data member. An override is the member that it overrides.</summary>
    public static AttributeData? DataMemberAttribute(this ISymbol symbol)
    {
        for (var at = symbol; at is not null; at = (at as IPropertySymbol)?.OverriddenProperty)
        {
            if (at.Attribute(DataMember) is { } attribute)
            {
                return attribute;
            }
        }

        return null;
    }

    public static object? Argument(this AttributeData attribute, string name) =>
        attribute.NamedArguments.FirstOrDefault(argument => argument.Key == name).Value.Value;

    public static string Qualified(this ITypeSymbol type) =>
        type.WithNullableAnnotation(NullableAnnotation.None).ToDisplayString(SymbolDisplayFormat.FullyQualifiedFormat);

    public static bool IsContract(this ITypeSymbol type) =>
        (type.TypeKind is TypeKind.Class or TypeKind.Struct && type.Attribute(DataContract) is not null) || type.HasSubtypes();

    public static bool HasSubtypes(this ITypeSymbol type) =>
        type.TypeKind is TypeKind.Class or TypeKind.Interface && type.Attribute(Subtype) is not null;

    /// <summary>The class and the classes that it inherits from, but object.</summary>
    public static IEnumerable<INamedTypeSymbol> WithBases(this INamedTypeSymbol type)
    {
        for (var at = type; at is { SpecialType: not (SpecialType.System_Object or SpecialType.System_ValueType) }; at = at.BaseType)
        {
            yield return at;
        }
    }
}
