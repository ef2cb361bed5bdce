using QuickSilver.Endpoints;
using QuickSilver.Membership.Contracts;

namespace QuickSilver.Topics;

// An endpoint that is being opened. It completes when its access is granted and, for a subscriber, a view contains it. Core thread.
internal sealed class TopicOpening(TopicCore topic, TopicEndpoint endpoint, ContractDescription contract)
{
    private readonly TaskCompletionSource<bool> _done = new(topic.Node.Completions);

    public TopicCore Topic { get; } = topic;

    public TopicEndpoint Endpoint { get; } = endpoint;

    public ContractDescription Contract { get; } = contract;

    public TopicRole Role { get; } = (TopicRole)endpoint.Access;

    /// <summary>True: the endpoint is open. False: another one was in its way and is gone, and the caller begins again.</summary>
    public Task<bool> Done => _done.Task;

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

    public void Complete() => _done.TrySetResult(true);

    public void BeginAgain() => _done.TrySetResult(false);

    public void Fail(Exception exception) => _done.TrySetException(exception);
}

// Openings whose contract differs from that of the topic on this node. If the node has the topic open, they are refused. But the first
// opening of a topic decides its contract before the service has answered, and may itself be refused, by what other nodes have open. So
// until then the others wait: when it is granted they are refused, and otherwise they begin again. Core thread only.
internal sealed class ContestedOpenings
{
    // In the order of their coming.
    private readonly List<TopicOpening> _waiting = [];

    /// <summary>An opening differs from its topic.</summary>
    public void Add(TopicOpening opening)
    {
        // The endpoint never belonged to the topic, so it does not leave it later.
        opening.Endpoint.Publication?.LeaveIntake();
        _waiting.Add(opening);
        if (opening.Topic.IsDecided)
        {
            Refuse(opening.Topic);
        }
    }

    public bool Remove(TopicOpening opening) => _waiting.Remove(opening);

    /// <summary>The service has granted the topic.</summary>
    public void Refuse(TopicCore topic)
    {
        foreach (var opening in Take(topic))
        {
            string? difference = ContractMatch.Difference(topic.Name, topic.Contract, opening.Contract);
            opening.Fail(new ContractMismatchException(topic.Name, $"{difference} This node has that version open."));
        }
    }

    /// <summary>The topic is not open on this node any more.</summary>
    public void Retry(TopicCore topic) => Take(topic).ForEach(static opening => opening.BeginAgain());

    /// <summary>The node ends.</summary>
    public void Fail(TopicCore topic, Exception reason) => Take(topic).ForEach(opening => opening.Fail(reason));

    private List<TopicOpening> Take(TopicCore topic)
    {
        if (_waiting.Count == 0)
        {
            return [];
        }

        var taken = _waiting.FindAll(opening => opening.Topic == topic);
        _waiting.RemoveAll(opening => opening.Topic == topic);
        return taken;
    }
}
