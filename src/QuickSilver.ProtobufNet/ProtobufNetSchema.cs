using System.Collections;
using System.Collections.Immutable;
using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Reflection;
using QuickSilver.Serialization;

namespace QuickSilver.ProtobufNet;

// The schema that a type's attributes tell, in the words that generated codecs use, so that the two match. It knows
// [DataContract] with [DataMember(Order)], and [ProtoContract] with [ProtoMember], which it takes by name.
[RequiresUnreferencedCode("Members are found by reflection.")]
internal sealed class ProtobufNetSchema
{
    private const string DataContract = "System.Runtime.Serialization.DataContractAttribute";
    private const string DataMember = "System.Runtime.Serialization.DataMemberAttribute";
    private const string ProtoContract = "ProtoBuf.ProtoContractAttribute";
    private const string ProtoMember = "ProtoBuf.ProtoMemberAttribute";

    private static readonly Dictionary<Type, string> Words = new()
    {
        [typeof(int)] = "int32",
        [typeof(long)] = "int64",
        [typeof(uint)] = "uint32",
        [typeof(ulong)] = "uint64",
        [typeof(short)] = "int32",
        [typeof(ushort)] = "uint32",
        [typeof(byte)] = "uint32",
        [typeof(sbyte)] = "int32",
        [typeof(char)] = "uint32",
        [typeof(bool)] = "bool",
        [typeof(float)] = "float",
        [typeof(double)] = "double",
        [typeof(string)] = "string",
        [typeof(byte[])] = "bytes",
        [typeof(ReadOnlyMemory<byte>)] = "bytes",
        [typeof(Memory<byte>)] = "bytes",
        [typeof(ArraySegment<byte>)] = "bytes",
        [typeof(decimal)] = "bcl.Decimal",
        [typeof(Guid)] = "bcl.Guid",
        [typeof(DateTime)] = "bcl.DateTime",
        [typeof(DateTimeOffset)] = "bcl.DateTimeOffset",
        [typeof(TimeSpan)] = "bcl.TimeSpan",
        [typeof(DateOnly)] = "int32",
        [typeof(TimeOnly)] = "int64",
        [typeof(Uri)] = "string",
    };

    // Each message type once, numbered in the order of its first occurrence.
    private readonly List<Type> _messages = [];

    public static PayloadSchema Of(Type type)
    {
        var schema = new ProtobufNetSchema();
        schema.NumberOf(type);
        var fields = schema.FieldsOf(type);
        var nested = ImmutableArray.CreateBuilder<PayloadMessage>();
        // The list grows as its messages are found to hold others.
        for (int message = 1; message < schema._messages.Count; message++)
        {
            var held = schema._messages[message];
            nested.Add(new PayloadMessage(GivenName(held) ?? held.Name, schema.FieldsOf(held)));
        }

        string name = GivenName(type) ?? type.FullName?.Replace('+', '.') ?? type.Name;
        return new PayloadSchema(name, PayloadSchema.MessageKind, fields) { Nested = nested.DrainToImmutable() };
    }

    private int NumberOf(Type message)
    {
        int number = _messages.IndexOf(message);
        if (number >= 0)
        {
            return number;
        }

        _messages.Add(message);
        return _messages.Count - 1;
    }

    private ImmutableArray<PayloadField> FieldsOf(Type type)
    {
        var fields = ImmutableArray.CreateBuilder<PayloadField>();
        foreach (var (number, name, memberType) in MembersOf(type))
        {
            var (word, held) = WordOf(memberType);
            fields.Add(new PayloadField(number, name, word) { Message = held is null ? null : NumberOf(held) });
        }

        return fields.DrainToImmutable();
    }

    private static IEnumerable<(int Number, string Name, Type Type)> MembersOf(Type type)
    {
        const BindingFlags All = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic;
        var members = new List<(int Number, string Name, Type Type)>();
        foreach (var member in type.GetMembers(All))
        {
            var memberType = member switch
            {
                PropertyInfo property => property.PropertyType,
                FieldInfo field => field.FieldType,
                _ => null,
            };
            if (memberType is not null && NumberOf(member) is { } numbered)
            {
                members.Add((numbered.Number, numbered.Name ?? member.Name, memberType));
            }
        }

        return members.OrderBy(member => member.Number);
    }

    private static (int Number, string? Name)? NumberOf(MemberInfo member)
    {
        foreach (var attribute in member.CustomAttributes)
        {
            string? kind = attribute.AttributeType.FullName;
            object? number = kind switch
            {
                DataMember => Argument(attribute, "Order"),
                ProtoMember => attribute.ConstructorArguments.FirstOrDefault().Value,
                _ => null,
            };
            if (number is not null)
            {
                return (Convert.ToInt32(number, CultureInfo.InvariantCulture), Argument(attribute, "Name") as string);
            }
        }

        return null;
    }

    // The word of a member's type, and the message type that it holds, if that tells its members.
    private static (string Word, Type? Held) WordOf(Type type)
    {
        type = Nullable.GetUnderlyingType(type) ?? type;
        if (type.IsEnum)
        {
            return WordOf(Enum.GetUnderlyingType(type));
        }

        if (Words.TryGetValue(type, out var word))
        {
            return (word, null);
        }

        if (ElementOf(type) is not { } element)
        {
            return IsContract(type) ? ("message", type) : (type.Name, null);
        }

        if (element.IsGenericType && element.GetGenericTypeDefinition() == typeof(KeyValuePair<,>))
        {
            var arguments = element.GetGenericArguments();
            var (valueWord, valueHeld) = WordOf(arguments[1]);
            return ($"map<{WordOf(arguments[0]).Word}, {valueWord}>", valueHeld);
        }

        var (elementWord, held) = WordOf(element);
        return ($"repeated {elementWord}", held);
    }

    private static Type? ElementOf(Type type)
    {
        if (!typeof(IEnumerable).IsAssignableFrom(type))
        {
            return null;
        }

        return type.GetInterfaces().Append(type)
            .FirstOrDefault(face => face.IsGenericType && face.GetGenericTypeDefinition() == typeof(IEnumerable<>))
            ?.GetGenericArguments()[0];
    }

    private static bool IsContract(Type type) =>
        type.CustomAttributes.Any(attribute => attribute.AttributeType.FullName is DataContract or ProtoContract);

    private static string? GivenName(Type type) =>
        type.CustomAttributes
            .Where(attribute => attribute.AttributeType.FullName is DataContract or ProtoContract)
            .Select(attribute => Argument(attribute, "Name") as string)
            .FirstOrDefault(name => name is not null);

    private static object? Argument(CustomAttributeData attribute, string name) =>
        attribute.NamedArguments.FirstOrDefault(argument => argument.MemberName == name).TypedValue.Value;
}
