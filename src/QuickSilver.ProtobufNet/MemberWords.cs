using System.Collections;
using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using ProtoBuf;
using ProtoBuf.Meta;

namespace QuickSilver.ProtobufNet;

// The word for what protobuf-net writes of a member. In brackets, what the bytes of a value do not show: "int32 [default = 5]" is left
// out if it is 5.
[RequiresUnreferencedCode("Types are found by reflection.")]
internal sealed class MemberWords(RuntimeTypeModel model)
{
    private const string NullWrappedValue = "ProtoBuf.NullWrappedValueAttribute";
    private const string NullWrappedCollection = "ProtoBuf.NullWrappedCollectionAttribute";

    /// <summary>The word, which is null if protobuf-net cannot serialize the type, and the message type that the member has.</summary>
    public (string? Word, Type? Held) OfMember(ValueMember member)
    {
        var (word, held) = OfValue(member);
        return (word is null ? null : word + Condition(member), held);
    }

    /// <summary>The same of a payload that is no message.</summary>
    public (string? Word, Type? Held) OfType(Type type)
    {
        var element = type == typeof(byte[]) ? null : ElementOf(type);
        var (word, held) = Of(element ?? type, DataFormat.Default, model.DefaultCompatibilityLevel);
        return (word is null || element is null ? word : "repeated " + word, held);
    }

    /// <summary>Whether values of a type are messages. A message that has a member of another type cannot be serialized either.</summary>
    public bool IsMessage(Type type) => (ContractAttributes.IsContract(type) || model.CanSerializeContractType(type))
        && (ElementOf(type) is null || (model.IsDefined(type) && model[type].IgnoreListHandling));

    private (string? Word, Type? Held) OfValue(ValueMember member)
    {
        var level = member.CompatibilityLevel;
        if (member.ItemType is not { } item)
        {
            return Of(member.MemberType, member.DataFormat, level);
        }

        if (!item.IsGenericType || item.GetGenericTypeDefinition() != typeof(KeyValuePair<,>))
        {
            var (element, elementHeld) = Of(item, member.DataFormat, level);
            return (element is null ? null : "repeated " + element, elementHeld);
        }

        // The entries of a map, which are the same where protobuf-net does not call it one.
        var types = item.GetGenericArguments();
        string? key = Of(types[0], member.MapKeyFormat, level).Word;
        var (value, valueHeld) = Of(types[1], member.MapValueFormat, level);
        return (key is null || value is null ? null : $"map<{key}, {value}>", valueHeld);
    }

    private (string? Word, Type? Held) Of(Type type, DataFormat format, CompatibilityLevel level)
    {
        type = Nullable.GetUnderlyingType(type) ?? type;
        if (TypeWords.Of(type, format, level) is { } word)
        {
            return (word, null);
        }

        if (IsMessage(type))
        {
            bool isGroup = format == DataFormat.Group || model[type].IsGroup;
            return isGroup ? ("group", null) : ("message", type);
        }

        // protobuf-net's own words for the rest, such as a System.Type.
        return (model.CanSerializeBasicType(type) ? "string" : null, null);
    }

    private static string Condition(ValueMember member)
    {
        string text = "";
        if (ModelInternals.SpecifiedOf(member) is { } specified)
        {
            text += $" [if {specified.Name.Replace("get_", "", StringComparison.Ordinal)}]";
        }

        if (member is { DefaultValue: { } given, IsRequired: false } && !IsZero(given))
        {
            text += $" [default = {Convert.ToString(given, CultureInfo.InvariantCulture)}]";
        }

        foreach (var attribute in member.Member.CustomAttributes)
        {
            text += attribute.AttributeType.FullName switch
            {
                NullWrappedValue => " [null wrapped]",
                NullWrappedCollection => " [null wrapped collection]",
                _ => "",
            };
        }

        return text;
    }

    private static bool IsZero(object value) => value.GetType().IsValueType && value.Equals(Activator.CreateInstance(value.GetType()));

    private static Type? ElementOf(Type type)
    {
        if (type == typeof(string) || !typeof(IEnumerable).IsAssignableFrom(type))
        {
            return null;
        }

        return type.GetInterfaces().Append(type)
            .FirstOrDefault(static face => face.IsGenericType && face.GetGenericTypeDefinition() == typeof(IEnumerable<>))
            ?.GetGenericArguments()[0];
    }
}
