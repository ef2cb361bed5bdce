using Microsoft.AspNetCore.SignalR;
using QuickSilver;
using QuickSilver.Hosting;

namespace LivePrices;

/// <summary>The SignalR hub, at <c>/hub</c>: its clients receive <c>price</c>.</summary>
public sealed class PriceHub : Hub;

// Sending to SignalR's clients waits, so this is a consumer and no handler.
internal sealed class PriceHubConsumer(IHubContext<PriceHub> hub) : IConsumer<Price>
{
    public async ValueTask ConsumeAsync(Message<Price> message, CancellationToken cancellationToken) =>
        await hub.Clients.All.SendAsync("price", message.Value, cancellationToken);
}
