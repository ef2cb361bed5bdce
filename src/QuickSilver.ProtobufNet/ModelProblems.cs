using System.Diagnostics.CodeAnalysis;
using System.Reflection;
using ProtoBuf.Meta;

namespace QuickSilver.ProtobufNet;

// What protobuf-net cannot serialize, or would lose without an error. All of it is found before a topic is opened, and named by member.
[RequiresUnreferencedCode("Members are found by reflection.")]
internal sealed class ModelProblems(RuntimeTypeModel model)
{
    private const BindingFlags Members =
        BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;

    private const string DataMember = "System.Runtime.Serialization.DataMemberAttribute";
    private const string ProtoMember = "ProtoBuf.ProtoMemberAttribute";
    private const string Subtype = "QuickSilver.Serialization.SubtypeAttribute";
    private const string UseGenerated = "use the type's generated codec";

    private static readonly Dictionary<Type, string> Advice = new()
    {
        [typeof(DateTimeOffset)] = "Use a DateTime in UTC, or " + UseGenerated,
        [typeof(Half)] = "Use a float, or " + UseGenerated,
        [typeof(Int128)] = "Use a string or a byte[], or " + UseGenerated,
        [typeof(UInt128)] = "Use a string or a byte[], or " + UseGenerated,
    };

    private readonly List<string> _found = [];

    /// <exception cref="NotSupportedException">There are problems.</exception>
    public void ThrowIfAny(Type type)
    {
        if (_found.Count > 0)
        {
            throw new NotSupportedException(
                $"protobuf-net cannot be used for {type}. {string.Join(' ', _found)} To use it nevertheless, pass a PayloadSchema.");
        }
    }

    /// <summary>What has a type that protobuf-net has no serializer of.</summary>
    public void AddUnknown(string what, Type type)
    {
        var value = Nullable.GetUnderlyingType(type) ?? type;
        if (HasAttribute(value, Subtype))
        {
            AddSubtypes(value);
            return;
        }

        string advice = Advice.GetValueOrDefault(value)
            ?? "Mark the type with [DataContract] and its members with [DataMember(Order = n)], or register a surrogate";
        Add($"{what} has the type {value.Name}, which protobuf-net does not serialize. {advice}.");
    }

    public void Check(MetaType type)
    {
        if (type.SerializerType is { } serializer)
        {
            Add($"{type.Type.Name} has a serializer of its own, {serializer.Name}, whose format is not known.");
        }

        if (type.AsReferenceDefault)
        {
            Add($"{type.Type.Name} is sent by reference. Remove AsReferenceDefault.");
        }

        CheckConstructor(type);
        CheckBases(type);
        foreach (var member in type.GetFields())
        {
            if (member.AsReference || member.DynamicType)
            {
                Add($"{type.Type.Name}.{member.Member.Name} is sent by reference or with its type. Remove AsReference and DynamicType.");
            }
        }

        foreach (string initial in InitialValues.LostIn(type, model))
        {
            Add(initial);
        }
    }

    private void CheckConstructor(MetaType type)
    {
        bool makes = type.UseConstructor && (type.ConstructType is null || type.ConstructType == type.Type)
            && !ModelInternals.HasFactory(type) && ModelInternals.SurrogateOf(type) is null;
        if (makes && type.Type is { IsClass: true, IsAbstract: false } && !HasConstructor(type.Type) && !IsTuple(type))
        {
            Add($"{type.Type.Name} has no parameterless constructor, so protobuf-net cannot read it. Add one, which may be private, or set "
                + "SkipConstructor in its [ProtoContract].");
        }
    }

    private static bool HasConstructor(Type type) =>
        type.GetConstructor(BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic, []) is not null;

    // Without attributes, protobuf-net takes the parameters of a constructor as the members.
    private static bool IsTuple(MetaType type) => !ContractAttributes.IsContract(type.Type);

    private void CheckBases(MetaType type)
    {
        if (HasAttribute(type.Type, Subtype) && type.SubtypesCount == 0)
        {
            AddSubtypes(type.Type);
        }

        if (type.BaseType is not null)
        {
            return;
        }

        for (var at = type.Type.BaseType; at is not null && at != typeof(object) && at != typeof(ValueType); at = at.BaseType)
        {
            var lost = at.GetMembers(Members)
                .FirstOrDefault(static one => HasAttribute(one, DataMember) || HasAttribute(one, ProtoMember));
            if (lost is not null)
            {
                Add($"{type.Type.Name} inherits {at.Name}.{lost.Name}, which protobuf-net does not send. Add "
                    + $"[ProtoInclude(n, typeof({type.Type.Name}))] to {at.Name}, or {UseGenerated}.");
                return;
            }
        }
    }

    private void AddSubtypes(Type type) =>
        Add($"{type.Name} declares its subtypes with [Subtype], which protobuf-net does not know. Add [ProtoInclude(n, typeof(S))] with "
            + $"the same numbers, or {UseGenerated}.");

    private static bool HasAttribute(MemberInfo member, string name) =>
        member.CustomAttributes.Any(attribute => attribute.AttributeType.FullName == name);

    private void Add(string problem)
    {
        if (!_found.Contains(problem))
        {
            _found.Add(problem);
        }
    }
}
