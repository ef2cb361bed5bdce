using QuickSilver.Serialization;

namespace QuickSilver.Topics;

// The advice for a payload type without a codec: applications can mark some types, and cannot mark others.
internal static class MissingCodec
{
    private const string Members = "its members with [DataMember(Order = n)]";

    public static string InWords(Type type)
    {
        string advice = CanBeMarked(type)
            ? $"Mark it with [DataContract] and {Members}, so that the source generator writes one"
            : $"Wrap the value in a class or struct of your own that is marked with [DataContract], {Members}";
        return $"{type} has no codec. {advice}, or pass an {nameof(IPayloadCodec<>)}<T> (namespace {typeof(IPayloadCodec<>).Namespace}) "
            + $"as the {nameof(TopicOptions<>.Codec)} of {nameof(TopicOptions<>)}<T>.";
    }

    // A type that is marked and has no codec belongs to an assembly that was built without the generator, or has another error.
    private static bool CanBeMarked(Type type) =>
        type is { IsEnum: false, IsInterface: false, IsArray: false, IsGenericType: false, IsPointer: false }
        && !IsOfTheSystem(type.Namespace);

    private static bool IsOfTheSystem(string? name) => name is "System" || name?.StartsWith("System.", StringComparison.Ordinal) == true;
}
