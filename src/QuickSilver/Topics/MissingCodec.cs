using QuickSilver.Serialization;

namespace QuickSilver.Topics;

// What to do about a payload type that has no codec: some are the user's to mark, and others nobody can mark.
internal static class MissingCodec
{
    private const string Members = "its members with [DataMember(Order = n)]";

    public static string InWords(Type type)
    {
        string advice = CanBeMarked(type)
            ? $"Mark it with [DataContract] and {Members}, so that the source generator writes one"
            : $"Wrap the value in a class or struct of your own that is marked with [DataContract], {Members}";
        return $"{type} has no codec. {advice}, or pass an {nameof(IPayloadCodec<>)}<T> (namespace {typeof(IPayloadCodec<>).Namespace}) "
            + "to OpenTopicAsync.";
    }

    // What is marked already and has no codec is of an assembly that was built without the generator, or has an error of its own.
    private static bool CanBeMarked(Type type) =>
        type is { IsEnum: false, IsInterface: false, IsArray: false, IsGenericType: false, IsPointer: false }
        && !IsOfTheSystem(type.Namespace);

    private static bool IsOfTheSystem(string? name) => name is "System" || name?.StartsWith("System.", StringComparison.Ordinal) == true;
}
