using Microsoft.CodeAnalysis;

namespace QuickSilver.Generators;

// Each rule has its page under docs/rules.
internal static class Rules
{
    private const string Serialization = "QuickSilver.Serialization";
    private const string Topics = "QuickSilver.Topics";

    public static readonly DiagnosticDescriptor UnsupportedMemberType = Rule(
        "QS0001",
        "A member's type cannot be serialized",
        "'{0}.{1}' has the type '{2}', which cannot be serialized: {3}");

    public static readonly DiagnosticDescriptor MissingOrder = Rule(
        "QS0002",
        "A data member has no field number",
        "'{0}.{1}' has no field number: write [DataMember(Order = n)], with a number of its own that never changes");

    public static readonly DiagnosticDescriptor DuplicateOrder = Rule(
        "QS0003",
        "Two data members have the same field number",
        "'{0}.{1}' and '{0}.{3}' have the same field number {2}: give '{1}' a number that was never used in this type");

    public static readonly DiagnosticDescriptor OrderOutOfRange = Rule(
        "QS0004",
        "A field number is out of range",
        "'{0}.{1}' has the field number {2}: use 1 to 536870911, except 19000 to 19999, which protobuf reserves");

    public static readonly DiagnosticDescriptor InaccessibleContract = Rule(
        "QS0005",
        "A contract type is not accessible",
        "'{0}' is not accessible to generated code: make it and the types around it internal or public, and not file-local");

    public static readonly DiagnosticDescriptor NoUsableConstructor = Rule(
        "QS0006",
        "A contract type cannot be constructed",
        "'{0}' cannot be constructed: {1}");

    public static readonly DiagnosticDescriptor OpenGenericContract = Rule(
        "QS0007",
        "A contract type is generic",
        "'{0}' is generic and has no single schema: write a [DataContract] type for each constructed type that you send");

    public static readonly DiagnosticDescriptor ContractInheritance = Rule(
        "QS0008",
        "A contract type inherits from another type",
        "'{0}' inherits from '{1}', whose state would be lost: use a [DataMember] of type '{1}' instead, or move its members here");

    public static readonly DiagnosticDescriptor UnusableMember = Rule(
        "QS0009",
        "A data member cannot be read or set",
        "'{0}.{1}' {2}");

    public static readonly DiagnosticDescriptor NoMembers = Rule(
        "QS0010",
        "A contract type has no data members",
        "'{0}' has no [DataMember], so its values are sent empty and '{1}' is lost: mark the members to send [DataMember(Order = n)]",
        DiagnosticSeverity.Warning);

    public static readonly DiagnosticDescriptor AsynchronousHandler = Rule(
        "QS0011",
        "A handler of the core thread is asynchronous",
        "The handler {0}, and runs on the node's core thread, which must not wait: use Subscribe(async (message, stop) => ...), which may",
        category: "QuickSilver.Subscribing");

    public static readonly DiagnosticDescriptor PayloadWithoutCodec = Rule(
        "QS0012",
        "A topic's payload type has no codec",
        "'{0}' has no codec: {1}, or pass options with an IPayloadCodec of it");

    public static readonly DiagnosticDescriptor InvalidSubtype = Rule(
        "QS0013",
        "A subtype cannot be declared so",
        "'{0}' declares the subtype '{1}', which cannot be one: {2}");

    public static readonly DiagnosticDescriptor SubtypesOfConcreteType = Rule(
        "QS0014",
        "A type with subtypes is not abstract",
        "'{0}' declares subtypes and is not abstract, so a value may be none of them: make it abstract, and what it is now a subtype");

    public static readonly DiagnosticDescriptor NullPayload = Rule(
        "QS0015",
        "Null is published",
        "'{0}' is called with null, which is no payload, and throws an ArgumentNullException: send an empty value, or a type that has the "
        + "absence as a member",
        category: "QuickSilver.Publishing");

    public static readonly DiagnosticDescriptor KeptBytes = Rule(
        "QS0016",
        "Bytes of a message are kept",
        "'{0}' keeps the bytes of a message, which are overwritten by later messages: keep a copy, made with ToArray(), or use byte[] as "
        + "the payload type, so that each message has bytes of its own",
        DiagnosticSeverity.Warning,
        category: "QuickSilver.Subscribing");

    public static readonly DiagnosticDescriptor ForgottenMember = Rule(
        "QS0017",
        "A member of a contract type is not a data member",
        "'{0}.{1}' is not sent, and its receivers get the default: mark it [DataMember(Order = n)], or [IgnoreDataMember] if that is meant",
        DiagnosticSeverity.Warning);

    public static readonly DiagnosticDescriptor LostKind = Rule(
        "QS0018",
        "A data member is a DateTime",
        "'{0}.{1}' has the type '{2}', and the Kind of a DateTime is not sent: use DateTimeOffset, or send UTC and set the Kind on receipt",
        DiagnosticSeverity.Info);

    public static readonly DiagnosticDescriptor ContradictedGuarantee = Rule(
        "QS0019",
        "Options contradict the declared guarantee of a topic",
        "'{0}' declares the topic '{1}' with the guarantee {2}, and these options have {3}: do not set the guarantee here, or change the "
        + "declaration",
        category: Topics);

    public static readonly DiagnosticDescriptor InvalidTopicName = Rule(
        "QS0020",
        "A declared topic has an invalid name",
        "'{0}' declares a topic with an invalid name: {1}",
        category: Topics);

    public static readonly DiagnosticDescriptor UndeclarableTopic = Rule(
        "QS0021",
        "A type cannot declare a topic",
        "'{0}' cannot declare a topic: {1}",
        category: Topics);

    public static readonly DiagnosticDescriptor TopicDeclaredTwice = Rule(
        "QS0022",
        "Two types declare a topic differently",
        "'{0}' and '{1}' declare the topic '{2}' differently, and cannot be open at the same time: {3}",
        category: Topics,
        tags: WellKnownDiagnosticTags.CompilationEnd);

    public static readonly DiagnosticDescriptor UndeclaredTopic = Rule(
        "QS0023",
        "A topic is opened without a name",
        "'{0}' declares no topic: pass the name of the topic to {1}, or declare it at the type with [Topic(\"name\")]",
        category: Topics);

    private static DiagnosticDescriptor Rule(
        string id,
        string title,
        string message,
        DiagnosticSeverity severity = DiagnosticSeverity.Error,
        string category = Serialization,
        params string[] tags) =>
        new(
            id,
            title,
            message,
            category,
            severity,
            isEnabledByDefault: true,
            description: $"docs/rules/{id}.md shows flagged code, the fix, and the reason.",
            customTags: tags);
}
