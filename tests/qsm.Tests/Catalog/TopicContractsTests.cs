using System.Text.Json;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Tool.Catalog;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Tests.Catalog;

public sealed class TopicContractsTests
{
    private static readonly ContractDescription Bytes = new() { TypeName = "bytes", Kind = "bytes", Guarantee = "Reliable" };

    [Fact]
    public void A_description_for_scripts_has_the_parameters_of_the_guarantee()
    {
        var json = JsonDocument.Parse(
            TopicDescriptionJson.Of(Of(Bytes with { Guarantee = "Causal", Parameters = ContractParameters.Of("window=8") })).ToJson());

        Assert.Equal("window=8", json.RootElement.GetProperty("parameters").GetString());
    }

    [Fact]
    public void A_topic_without_parameters_has_no_such_property() => Assert.False(
        JsonDocument.Parse(TopicDescriptionJson.Of(Of(Bytes)).ToJson()).RootElement.TryGetProperty("parameters", out _));

    [Fact]
    public void An_endpoint_of_the_tool_agrees_with_a_plain_topic_only()
    {
        Assert.Equal(Guarantee.BestEffort, Of(Bytes with { Guarantee = "BestEffort" }).Options.Guarantee);
        Assert.Throws<ToolException>(() => Of(Bytes with { IsPinned = true }).Options);
        Assert.Throws<ToolException>(() => Of(Bytes with { Parameters = ContractParameters.Of("window=8") }).Options);
    }

    private static TopicContracts Of(ContractDescription contract) => new("prices", [new ListedTopicMessage
    {
        TopicId = 1,
        Name = "prices",
        Contract = contract,
    }]);
}
