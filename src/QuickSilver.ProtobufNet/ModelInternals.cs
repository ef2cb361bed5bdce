using System.Diagnostics.CodeAnalysis;
using System.Reflection;
using ProtoBuf.Meta;

namespace QuickSilver.ProtobufNet;

// What protobuf-net's model has no public property for. A version without these fields has none of what they say.
[RequiresUnreferencedCode("Fields are found by reflection.")]
internal static class ModelInternals
{
    private const BindingFlags Private = BindingFlags.Instance | BindingFlags.NonPublic;

    internal static FieldInfo? Surrogate { get; } = typeof(MetaType).GetField("surrogateType", Private);

    internal static FieldInfo? Factory { get; } = typeof(MetaType).GetField("factory", Private);

    internal static FieldInfo? Specified { get; } = typeof(ValueMember).GetField("getSpecified", Private);

    /// <summary>The type that is written in place of this one.</summary>
    public static Type? SurrogateOf(MetaType type) => Surrogate?.GetValue(type) as Type;

    /// <summary>Whether the program makes the values.</summary>
    public static bool HasFactory(MetaType type) => Factory?.GetValue(type) is not null;

    /// <summary>The method that decides whether a member is written.</summary>
    public static MethodInfo? SpecifiedOf(ValueMember member) => Specified?.GetValue(member) as MethodInfo;
}
