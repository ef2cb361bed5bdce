using QuickSilver.Membership.Client;
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
}
