using QuickSilver.Endpoints;
using QuickSilver.Membership.Contracts;

namespace QuickSilver.Topics;

// An endpoint that is being opened. It completes when its access is granted and, for a subscriber, a view contains it. Core thread.
internal sealed class TopicOpening(TopicCore topic, TopicEndpoint endpoint, ContractDescription contract)
{
    private readonly TaskCompletionSource _done = new(topic.Node.Completions);

    public TopicCore Topic { get; } = topic;

    public TopicEndpoint Endpoint { get; } = endpoint;

    public ContractDescription Contract { get; } = contract;

    public TopicRole Role { get; } = (TopicRole)endpoint.Access;

    public Task Done => _done.Task;

    public void Begin()
    {
        try
        {
            Topic.Join(this);
        }
        catch (Exception exception)
        {
            // The multicast layer could not open its part, for example because no port was available.
            Fail(exception);
            Topic.Abandon(this);
        }
    }

    public void Complete() => _done.TrySetResult();

    public void Fail(Exception exception) => _done.TrySetException(exception);
}
