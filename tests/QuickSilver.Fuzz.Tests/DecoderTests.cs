using System.Reflection;
using QuickSilver.Core.Wire;
using QuickSilver.Fuzz.Control;
using QuickSilver.Fuzz.Packets;
using QuickSilver.Membership.Protocol;

namespace QuickSilver.Fuzz.Tests;

// Each decoder has a target: a new decoder without one fails here.
public sealed class DecoderTests
{
    private static readonly Assembly[] Product =
    [
        typeof(PacketHeader).Assembly, typeof(QuickSilverException).Assembly, typeof(ControlFrame).Assembly,
        Assembly.Load("QuickSilver.Multicast"), typeof(QuickSilverNode).Assembly, Assembly.Load("QuickSilver.Groups"),
    ];

    [Fact]
    public void Each_kind_of_packet_is_read_by_a_target() => Assert.Equal(
        Enum.GetValues<PacketKind>().Where(static kind => kind != PacketKind.None).Order(), PacketTarget.Kinds.Order());

    [Fact]
    public void Each_kind_of_control_message_is_read_by_a_target() => Assert.Equal(
        typeof(ControlMessageKind).GetFields().Select(static field => (int)field.GetRawConstantValue()!).Order(),
        ControlTarget.Kinds.Order());

    [Fact]
    public void Each_type_that_reads_bytes_is_named_by_a_target()
    {
        var named = FuzzTargets.All.SelectMany(static target => target.Decoders).ToHashSet();
        string[] missing =
        [
            .. Product.SelectMany(static assembly => assembly.GetTypes())
                .Where(type => ReadsBytes(type) && !named.Contains(type))
                .Select(static type => $"{type.FullName}: {MethodOf(type)}")
                .Order(),
        ];
        Assert.True(missing.Length == 0, $"Add these to a target of QuickSilver.Fuzz:\n{string.Join('\n', missing)}");
    }

    private static bool ReadsBytes(Type type) => !type.IsInterface && MethodOf(type) is not null;

    private static MethodInfo? MethodOf(Type type) => type
        .GetMethods(BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Static | BindingFlags.Instance | BindingFlags.DeclaredOnly)
        .FirstOrDefault(static method => Reads(method) || Opens(method));

    private static bool Reads(MethodInfo method) =>
        (method.Name.StartsWith("Read", StringComparison.Ordinal) || method.Name.StartsWith("TryRead", StringComparison.Ordinal)
            || method.Name is "Validate" or "TryCut" or "Measure" or "TryMeasure" or "Convert" or "TryParse" or "TryDecode" or "Decode"
            || IsOpening(method))
        && (Takes(method, typeof(ReadOnlySpan<byte>)) || Takes(method, typeof(Serialization.Protobuf.ProtobufReader)));

    // What is sealed is opened where it lies.
    private static bool Opens(MethodInfo method) => IsOpening(method) && Takes(method, typeof(Span<byte>));

    private static bool IsOpening(MethodInfo method) => method.Name is "Open" or "TryOpen" or "Unprotect" or "TryUnseal" or "TryDecrypt";

    private static bool Takes(MethodInfo method, Type type) =>
        method.GetParameters().Any(parameter => Bare(parameter.ParameterType) == type);

    private static Type Bare(Type type) => type.IsByRef ? type.GetElementType()! : type;
}
