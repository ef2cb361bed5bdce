namespace QuickSilver.Diagnostics;

// The refusal of null, with what it was a payload of. A codec that refuses it does not know that.
internal static class NullPayload
{
    public static ArgumentNullException OfTopic(string topic) => Of("value", $"A message of the topic \"{topic}\"", "Publish");

    public static ArgumentNullException OfRequest(string name) => Of("request", $"A request for \"{name}\"", "Send");

    public static ArgumentNullException OfReply(string name) => Of("reply", $"The answer of the responder for \"{name}\"", "Return");

    public static ArgumentNullException OfState(string name) => new(
        "value", $"A value of the state \"{name}\" is null. Use RemoveAsync for a key that has no value any more.");

    private static ArgumentNullException Of(string parameter, string what, string verb) => new(
        parameter, $"{what} is null, which cannot be sent. {verb} a value, such as one of a type with a nullable member.");
}
