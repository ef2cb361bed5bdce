using QuickSilver.Endpoints;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests.Infrastructure;

// An endpoint whose messages the test delivers in any number: what its buffer refuses is delivered when it has room.
internal sealed class ConsumerBench : IAsyncDisposable
{
    private const string Name = "orders";
    private long _delivered;
    private long _wanted;

    private ConsumerBench(FakeParts parts) => Parts = parts;

    public FakeParts Parts { get; }

    public required QuickSilverNode Node { get; init; }

    public required ITopicSubscriber<string> Topic { get; init; }

    /// <summary>The messages that no consumer has taken.</summary>
    public long Waiting => ((TopicEndpoint)Topic).Subscription!.Waiting;

    public long Delivered => Volatile.Read(ref _delivered);

    public static async Task<ConsumerBench> StartAsync(TopicOptions? options = null, RecordingLogs? logs = null)
    {
        var parts = new FakeParts();
        var node = await parts.StartAsync(logs: logs);
        var topic = await parts.OpenSubscriberAsync<string>(node, Name, options);
        return new ConsumerBench(parts) { Node = node, Topic = topic };
    }

    /// <summary>Delivers so many messages more. Their texts are their numbers.</summary>
    public Task DeliverAsync(int messages) => Parts.Core.RunAsync(() =>
    {
        _wanted += messages;
        var receiver = Parts.ReceiverOf(Name);
        receiver.OnResume = Deliver;
        Deliver();

        void Deliver()
        {
            while (_delivered < _wanted)
            {
                string text = $"{_delivered + 1}";
                if (!receiver.Deliver(_delivered + 1, System.Text.Encoding.UTF8.GetBytes(text)))
                {
                    return;
                }

                Volatile.Write(ref _delivered, _delivered + 1);
            }
        }
    });

    public Task ExpelAsync() => Parts.Core.RunAsync(() => Parts.Service.Observer!.OnExpelled("ten heartbeats missed"));

    public ValueTask DisposeAsync() => Parts.DisposeAsync();
}
