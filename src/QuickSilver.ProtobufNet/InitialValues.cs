using System.Collections;
using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Reflection;
using ProtoBuf.Meta;

namespace QuickSilver.ProtobufNet;

// protobuf-net reads into a new object, and leaves out zeros, nulls and empty collections when it writes. So a member with another initial
// value has that value after a zero was sent.
[RequiresUnreferencedCode("Members are found by reflection.")]
internal static class InitialValues
{
    private const BindingFlags Constructors = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic;

    /// <summary>The members whose values would be lost, as sentences that say what to do.</summary>
    public static IEnumerable<string> LostIn(MetaType type, RuntimeTypeModel model)
    {
        if (!type.UseConstructor || Made(type.ConstructType ?? type.Type) is not { } value)
        {
            yield break;
        }

        foreach (var member in type.GetFields())
        {
            if (member.ItemType is not null && member.MemberType.IsInterface && IsReadOnly(ValueOf(member.Member, value)))
            {
                yield return $"{type.Type.Name}.{member.Member.Name} is initially a read-only collection, to which protobuf-net cannot "
                    + "add. Initialize it with a new List<T>, HashSet<T> or Dictionary<TKey, TValue>, or with null.";
            }
            else if (ValueOf(member.Member, value) is { } initial && Lost(member, initial, model) is { } lost)
            {
                string required = initial is string or Array or IEnumerable || Nullable.GetUnderlyingType(member.MemberType) is not null
                    ? ""
                    : ", or set [DataMember(IsRequired = true)]";
                yield return $"{type.Type.Name}.{member.Member.Name} is initially {Text(initial)}, and protobuf-net does not send {lost}, "
                    + $"which would arrive as {Text(initial)}. Remove the initial value{required}.";
            }
        }
    }

    private static string? Lost(ValueMember member, object initial, RuntimeTypeModel model)
    {
        var type = member.MemberType;
        if (initial is string text)
        {
            return text.Length > 0 ? "null" : null;
        }

        if (Nullable.GetUnderlyingType(type) is not null)
        {
            return "null";
        }

        if (member.ItemType is not null || type == typeof(byte[]))
        {
            bool isEmpty = initial is IEnumerable items && !items.GetEnumerator().MoveNext();
            return isEmpty || member.OverwriteList ? null : "an empty collection";
        }

        // protobuf-net writes each of these types, and each message that is a value type.
        bool isAlwaysSent = !type.IsValueType || type == typeof(DateTime) || type == typeof(DateOnly) || type == typeof(TimeOnly)
            || (!type.IsEnum && !model.CanSerializeBasicType(type));
        bool isOmitted = !member.IsRequired && !isAlwaysSent;
        object zero = isOmitted ? Activator.CreateInstance(type)! : initial;
        return isOmitted && !initial.Equals(member.DefaultValue ?? zero) ? Text(member.DefaultValue ?? zero) : null;
    }

    // An empty array, too, which a collection expression makes of an interface.
    private static bool IsReadOnly(object? initial) => initial is Array
        || (initial is not null && initial.GetType().GetInterfaces().Any(face => face.IsGenericType
            && face.GetGenericTypeDefinition() == typeof(ICollection<>)
            && face.GetProperty(nameof(ICollection<int>.IsReadOnly))!.GetValue(initial) is true));

    private static string Text(object value) => value switch
    {
        string text => $"\"{text}\"",
        IEnumerable => "a collection with elements",
        _ => Convert.ToString(value, CultureInfo.InvariantCulture) ?? "",
    };

    // As protobuf-net makes it. A constructor that fails fails there too, with a message of its own.
    private static object? Made(Type type)
    {
        if (type.IsValueType || type.IsAbstract || type.GetConstructor(Constructors, []) is not { } constructor)
        {
            return null;
        }

        try
        {
            return constructor.Invoke(null);
        }
        catch (TargetInvocationException)
        {
            return null;
        }
    }

    private static object? ValueOf(MemberInfo member, object value)
    {
        try
        {
            return member switch
            {
                PropertyInfo { CanRead: true } property => property.GetValue(value),
                FieldInfo field => field.GetValue(value),
                _ => null,
            };
        }
        catch (TargetInvocationException)
        {
            return null;
        }
    }
}
