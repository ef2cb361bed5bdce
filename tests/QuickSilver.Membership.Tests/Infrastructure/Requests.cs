using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests.Infrastructure;

internal static class Requests
{
    public static readonly ContractDescription Bytes = new() { TypeName = "Bytes", Kind = "bytes", Guarantee = "Reliable" };

    public static TopicRequest Topic(string name, TopicRole role, ContractDescription? contract = null) => new()
    {
        Name = name,
        TopicId = TopicId.Of(name),
        Role = role,
        Contract = contract ?? Bytes,
    };

    public static ContractDescription Departure(params ContractField[] fields) => new()
    {
        TypeName = "Departure",
        Kind = "message",
        Guarantee = "Reliable",
        Fields = [.. fields],
    };

    // A departure with legs, each with other legs within it: a type that holds itself.
    public static ContractDescription Nested(string typeOfFrom) =>
        Departure(new ContractField(1, "Flight", "string"), new ContractField(2, "Legs", "repeated message") { Message = 1 }) with
        {
            Nested = [new("Leg", [new(1, "From", typeOfFrom), new(2, "Parts", "repeated message") { Message = 1 }])],
        };
}
