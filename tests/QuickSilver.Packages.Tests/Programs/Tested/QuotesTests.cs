using System.Runtime.Serialization;
using QuickSilver;
using Xunit;

// A service that answers requests, and its test, without a network.
public sealed class QuotesTests
{
    [Fact]
    public async Task A_share_has_a_price()
    {
        var network = new InMemoryNetwork();
        await using var node = await network.StartNodeAsync();
        await using var responder = await node.OpenResponderAsync<string, Quote>("quotes", new Quotes().FindAsync);
        await using var quotes = await node.OpenRequesterAsync<string, Quote>("quotes");
        var quote = await quotes.AskAsync("UAL");
        Assert.Equal(12.5m, quote.Price);
    }
}

public sealed class Quotes
{
    public async ValueTask<Quote> FindAsync(Message<string> symbol, CancellationToken stop)
    {
        await Task.Delay(10, stop);
        return new Quote(symbol.Value, 12.5m);
    }
}

[DataContract]
public sealed record Quote([property: DataMember(Order = 1)] string Symbol, [property: DataMember(Order = 2)] decimal Price);
