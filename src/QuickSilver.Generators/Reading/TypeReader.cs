using Microsoft.CodeAnalysis;
using QuickSilver.Generators.Model;

namespace QuickSilver.Generators.Reading;

// What a member's type becomes on the wire, or advice on what to write in its place.
internal readonly struct ShapeOrAdvice
{
    private ShapeOrAdvice(MemberShape shape, bool optional, ValueModel? value, ValueModel? key, ITypeSymbol? contract, string? advice)
    {
        Shape = shape;
        Optional = optional;
        Value = value;
        Key = key;
        Contract = contract;
        Advice = advice;
    }

    public MemberShape Shape { get; }

    public bool Optional { get; }

    public ValueModel? Value { get; }

    public ValueModel? Key { get; }

    // The contract type that the value is, if it is one.
    public ITypeSymbol? Contract { get; }

    public string? Advice { get; }

    public static ShapeOrAdvice Refused(string advice) => new(default, false, null, null, null, advice);

    public static ShapeOrAdvice Of(MemberShape shape, bool optional, ValueModel value, ITypeSymbol type, ValueModel? key = null) =>
        new(shape, optional, value, key, value.IsMessage ? type : null, null);
}

internal static class TypeReader
{
    private const string UseCollections = "use List<T>, T[], HashSet<T>, IReadOnlyList<T>, IReadOnlyCollection<T>, IReadOnlySet<T>, "
        + "ImmutableArray<T>, Dictionary<TKey, TValue> or IReadOnlyDictionary<TKey, TValue>";
    private const string WrapInner = "a collection cannot contain another collection; wrap the inner one in a [DataContract] type";
    private const string NoNullElements = "a collection on the wire cannot contain null; make its elements non-nullable";
    private const string KeyTypes = "a dictionary's key must be a string, an integer, a char or a bool";

    public static ShapeOrAdvice Read(ITypeSymbol type)
    {
        // Without annotations a reference may be null, and the codec keeps the difference.
        bool optional = type.IsReferenceType && type.NullableAnnotation != NullableAnnotation.NotAnnotated;
        if (UnderNullable(type) is { } underlying)
        {
            return ReadValue(underlying) is { } nullable
                ? ShapeOrAdvice.Of(MemberShape.Single, true, nullable, underlying)
                : ShapeOrAdvice.Refused(AdviceFor(underlying));
        }

        if (ReadValue(type) is { } single)
        {
            return ShapeOrAdvice.Of(MemberShape.Single, optional, single, type);
        }

        if (CollectionOf(type) is { } collection)
        {
            return ReadElement(collection.Element, collection.Shape, optional, key: null);
        }

        if (type is INamedTypeSymbol named && MapOf(named) is { } map)
        {
            return ReadValue(named.TypeArguments[0]) is { } key && IsKey(key)
                ? ReadElement(named.TypeArguments[1], map, optional, key)
                : ShapeOrAdvice.Refused(KeyTypes);
        }

        return ShapeOrAdvice.Refused(AdviceFor(type));
    }

    private static ShapeOrAdvice ReadElement(ITypeSymbol element, MemberShape shape, bool optional, ValueModel? key)
    {
        if (UnderNullable(element) is not null || (element.IsReferenceType && element.NullableAnnotation == NullableAnnotation.Annotated))
        {
            return ShapeOrAdvice.Refused(NoNullElements);
        }

        return ReadValue(element) is { } value
            ? ShapeOrAdvice.Of(shape, optional, value, element, key)
            : ShapeOrAdvice.Refused(IsCollection(element) ? WrapInner : AdviceFor(element));
    }

    private static ValueModel? ReadValue(ITypeSymbol type)
    {
        if (type is INamedTypeSymbol { TypeKind: TypeKind.Enum, EnumUnderlyingType: { } underlying })
        {
            var (kind, word) = Primitive(underlying.SpecialType)!.Value;
            return new ValueModel(kind, type.Qualified(), word, IsReference: false, IsEnum: true) { Enum = EnumReader.Read(type) };
        }

        if (Primitive(type.SpecialType) is { } primitive)
        {
            return new ValueModel(primitive.Kind, type.Qualified(), primitive.Word, type.IsReferenceType, IsEnum: false);
        }

        if (type is IArrayTypeSymbol { Rank: 1, ElementType.SpecialType: SpecialType.System_Byte })
        {
            return new ValueModel(ValueKind.Bytes, "byte[]", "bytes", IsReference: true, IsEnum: false);
        }

        if (type is not INamedTypeSymbol named)
        {
            return null;
        }

        if (named.IsContract())
        {
            return named.IsGenericType
                ? null
                : new ValueModel(ValueKind.Message, named.Qualified(), "message", named.IsReferenceType, IsEnum: false);
        }

        return named.OriginalDefinition.ToDisplayString() switch
        {
            KnownTypes.Guid => Bcl(ValueKind.Guid, "bcl.Guid"),
            KnownTypes.TimeSpan => Bcl(ValueKind.TimeSpan, "bcl.TimeSpan"),
            KnownTypes.DateTimeOffset => Bcl(ValueKind.DateTimeOffset, "bcl.DateTimeOffset"),
            KnownTypes.DateOnly => Converted(ValueKind.Int32, "int32", Conversion.DateOnly),
            KnownTypes.TimeOnly => Converted(ValueKind.Int64, "int64", Conversion.TimeOnly),
            KnownTypes.Half => Converted(ValueKind.Single, "float", Conversion.Half),
            KnownTypes.Uri => Converted(ValueKind.String, "string", Conversion.Uri),
            KnownTypes.Int128 => Bcl(ValueKind.Int128, "int128"),
            KnownTypes.UInt128 => Bcl(ValueKind.UInt128, "uint128"),
            KnownTypes.ReadOnlyMemory when named.TypeArguments[0].SpecialType == SpecialType.System_Byte => Bcl(ValueKind.Memory, "bytes"),
            _ => null,
        };

        ValueModel Bcl(ValueKind kind, string word) => new(kind, type.Qualified(), word, type.IsReferenceType, IsEnum: false);

        ValueModel Converted(ValueKind kind, string word, Conversion conversion) => Bcl(kind, word) with { Conversion = conversion };
    }

    private static (ValueKind Kind, string Word)? Primitive(SpecialType type) => type switch
    {
        SpecialType.System_Int32 => (ValueKind.Int32, "int32"),
        SpecialType.System_Int64 => (ValueKind.Int64, "int64"),
        SpecialType.System_UInt32 => (ValueKind.UInt32, "uint32"),
        SpecialType.System_UInt64 => (ValueKind.UInt64, "uint64"),
        SpecialType.System_Int16 => (ValueKind.Int16, "int32"),
        SpecialType.System_UInt16 => (ValueKind.UInt16, "uint32"),
        SpecialType.System_Byte => (ValueKind.Byte, "uint32"),
        SpecialType.System_SByte => (ValueKind.SByte, "int32"),
        SpecialType.System_Char => (ValueKind.Char, "uint32"),
        SpecialType.System_Boolean => (ValueKind.Bool, "bool"),
        SpecialType.System_Single => (ValueKind.Single, "float"),
        SpecialType.System_Double => (ValueKind.Double, "double"),
        SpecialType.System_String => (ValueKind.String, "string"),
        SpecialType.System_Decimal => (ValueKind.Decimal, "bcl.Decimal"),
        SpecialType.System_DateTime => (ValueKind.DateTime, "bcl.DateTime"),
        _ => null,
    };

    private static MemberShape? MapOf(INamedTypeSymbol type) => type.OriginalDefinition.ToDisplayString() switch
    {
        KnownTypes.Dictionary => MemberShape.Map,
        KnownTypes.ReadOnlyDictionary => MemberShape.ReadOnlyMap,
        _ => null,
    };

    private static (MemberShape Shape, ITypeSymbol Element)? CollectionOf(ITypeSymbol type)
    {
        if (type is IArrayTypeSymbol { Rank: 1 } array)
        {
            return (MemberShape.Array, array.ElementType);
        }

        return type is INamedTypeSymbol named
            ? named.OriginalDefinition.ToDisplayString() switch
            {
                KnownTypes.List => (MemberShape.List, named.TypeArguments[0]),
                KnownTypes.ReadOnlyList => (MemberShape.ReadOnlyList, named.TypeArguments[0]),
                KnownTypes.ReadOnlyCollection => (MemberShape.ReadOnlyCollection, named.TypeArguments[0]),
                KnownTypes.Set => (MemberShape.Set, named.TypeArguments[0]),
                KnownTypes.ReadOnlySet => (MemberShape.ReadOnlySet, named.TypeArguments[0]),
                KnownTypes.ImmutableArray => (MemberShape.ImmutableArray, named.TypeArguments[0]),
                _ => null,
            }
            : null;
    }

    private static bool IsKey(ValueModel value) =>
        value is { IsEnum: false, IsConverted: false, Kind: <= ValueKind.Bool or ValueKind.String };

    private static bool IsCollection(ITypeSymbol type) =>
        type is IArrayTypeSymbol || type.AllInterfaces.Any(face => face.SpecialType == SpecialType.System_Collections_IEnumerable);

    private static ITypeSymbol? UnderNullable(ITypeSymbol type) =>
        type is INamedTypeSymbol { OriginalDefinition.SpecialType: SpecialType.System_Nullable_T } nullable
            ? nullable.TypeArguments[0]
            : null;

    private static string AdviceFor(ITypeSymbol type)
    {
        if (CollectionOf(type) is not null)
        {
            return "use the collection itself, not a Nullable<T> of it";
        }

        if (IsCollection(type))
        {
            return UseCollections;
        }

        if (type is INamedTypeSymbol { IsGenericType: true })
        {
            return "use a [DataContract] type without type parameters";
        }

        if (type.TypeKind == TypeKind.Interface && !FromSystem(type))
        {
            return $"declare the subtypes of '{type.Name}' with [Subtype(n, typeof(S))]";
        }

        return type.TypeKind is TypeKind.Class or TypeKind.Struct && type.SpecialType == SpecialType.None && !FromSystem(type)
            ? $"mark '{type.Name}' [DataContract] and its members [DataMember(Order = n)]"
            : "use a type that protobuf supports, or your own [DataContract] type";
    }

    private static bool FromSystem(ITypeSymbol type) => type.ContainingNamespace?.ToDisplayString() is "System" ||
        type.ContainingNamespace?.ToDisplayString().StartsWith("System.", StringComparison.Ordinal) == true;
}
