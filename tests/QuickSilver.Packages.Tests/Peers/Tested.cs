// MassTransit 8 and its test harness, with Microsoft.Extensions.DependencyInjection
using MassTransit;
using MassTransit.Testing;
using Microsoft.Extensions.DependencyInjection;
using Xunit;

namespace Shop;

// A service that answers requests, and its test, without a network.
public sealed class QuotesTests
{
    [Fact]
    public async Task A_share_has_a_price()
    {
        await using var provider = new ServiceCollection()
            .AddMassTransitTestHarness(bus => bus.AddConsumer<Quotes>())
            .BuildServiceProvider(true);
        var harness = provider.GetRequiredService<ITestHarness>();
        await harness.Start();
        var response = await harness.GetRequestClient<Query>().GetResponse<Quote>(new Query("UAL"));
        Assert.Equal(12.5m, response.Message.Price);
    }
}

public sealed class Quotes : IConsumer<Query>
{
    public async Task Consume(ConsumeContext<Query> context)
    {
        await Task.Delay(10, context.CancellationToken);
        await context.RespondAsync(new Quote(context.Message.Symbol, 12.5m));
    }
}

public sealed record Query(string Symbol);

public sealed record Quote(string Symbol, decimal Price);
