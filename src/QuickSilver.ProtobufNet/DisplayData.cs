using System.Collections;
using System.Collections.Immutable;
using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Reflection;
using ProtoBuf.Meta;
using QuickSilver.Serialization;

namespace QuickSilver.ProtobufNet;

// What the schema has for tools only, as generated codecs have it: the .NET types of members, the enums, and what may be null.
[RequiresUnreferencedCode("Members are found by reflection.")]
internal sealed class DisplayData
{
    // What stands for several .NET types on the wire. With another word, the bytes are not those that the .NET type says.
    private static readonly Dictionary<Type, (string Logical, string Word)> Words = new()
    {
        [typeof(sbyte)] = (LogicalType.SByte, "int32"),
        [typeof(byte)] = (LogicalType.Byte, "uint32"),
        [typeof(short)] = (LogicalType.Int16, "int32"),
        [typeof(ushort)] = (LogicalType.UInt16, "uint32"),
        [typeof(char)] = (LogicalType.Char, "uint32"),
        [typeof(DateOnly)] = (LogicalType.DateOnly, "int32"),
        [typeof(TimeOnly)] = (LogicalType.TimeOnly, "int64"),
        [typeof(Uri)] = (LogicalType.Uri, "string"),
    };

    private readonly NullabilityInfoContext _nullability = new();

    // Each enum once, numbered in the order of its first occurrence.
    private readonly List<Type> _enums = [];

    public ImmutableArray<PayloadEnum> Enums => [.. _enums.Select(EnumOf)];

    public PayloadField Of(PayloadField field, ValueMember member) =>
        Of(field, member.ItemType ?? member.MemberType) with { IsNullable = IsNullable(member) };

    /// <param name="field">The field without what is for display.</param>
    /// <param name="type">The type of the value, or of the elements of a collection, or the collection itself.</param>
    public PayloadField Of(PayloadField field, Type type)
    {
        if (type.IsGenericType && type.GetGenericTypeDefinition() == typeof(KeyValuePair<,>))
        {
            var types = type.GetGenericArguments();
            return Of(field, types[1]) with { LogicalKeyType = LogicalOf(types[0], field.Type) };
        }

        var value = ElementOf(type);
        return field with { LogicalType = LogicalOf(value, field.Type), Enum = value.IsEnum ? NumberOf(value) : null };
    }

    private static string? LogicalOf(Type type, string word)
    {
        var value = Nullable.GetUnderlyingType(type) ?? type;
        value = value.IsEnum ? Enum.GetUnderlyingType(value) : value;
        // The word may be that of a list or a map.
        return Words.TryGetValue(value, out var known)
            && word.Split(' ', ',', '<', '>').Contains(known.Word, StringComparer.Ordinal) ? known.Logical : null;
    }

    private static Type ElementOf(Type type)
    {
        var value = Nullable.GetUnderlyingType(type) ?? type;
        return value == typeof(string) || value == typeof(byte[]) || !typeof(IEnumerable).IsAssignableFrom(value)
            ? value
            : value.GetInterfaces().Append(value)
                .FirstOrDefault(static face => face.IsGenericType && face.GetGenericTypeDefinition() == typeof(IEnumerable<>))
                ?.GetGenericArguments()[0] is { } element ? Nullable.GetUnderlyingType(element) ?? element : value;
    }

    private static PayloadEnum EnumOf(Type type)
    {
        var values = type.GetFields(BindingFlags.Public | BindingFlags.Static)
            .OrderBy(static field => field.MetadataToken)
            .Select(static field => new PayloadEnumValue(field.Name, Number(field.GetRawConstantValue()!)));
        return new PayloadEnum(type.Name, [.. values]) { IsFlags = type.IsDefined(typeof(FlagsAttribute), inherit: false) };
    }

    private static long Number(object constant) =>
        constant is ulong bits ? unchecked((long)bits) : Convert.ToInt64(constant, CultureInfo.InvariantCulture);

    // Where the compiler has not noted it, it is not known.
    private bool? IsNullable(ValueMember member)
    {
        if (member.MemberType.IsValueType)
        {
            return Nullable.GetUnderlyingType(member.MemberType) is not null;
        }

        try
        {
            var state = member.Member switch
            {
                PropertyInfo property => _nullability.Create(property).ReadState,
                FieldInfo field => _nullability.Create(field).ReadState,
                _ => NullabilityState.Unknown,
            };
            return state == NullabilityState.Unknown ? null : state == NullabilityState.Nullable;
        }
        catch (InvalidOperationException)
        {
            // The application was published without these notes.
            return null;
        }
    }

    private int NumberOf(Type type)
    {
        int number = _enums.IndexOf(type);
        if (number < 0)
        {
            number = _enums.Count;
            _enums.Add(type);
        }

        return number;
    }
}
