namespace QuickSilver.Diagnostics;

// What calls after the end get: what was disposed, and what to open instead.
internal static class AfterDispose
{
    public static ObjectDisposedException OfNode() => new(
        nameof(QuickSilverNode), "The node was disposed. Start a new node with QuickSilverNode.StartAsync, and open its topics there.");

    public static ObjectDisposedException OfTopic(string name) => new(
        $"The topic \"{name}\"",
        $"This endpoint of the topic \"{name}\" was disposed, by itself or with its node. Open the topic again with OpenTopicAsync, "
        + "OpenPublisherAsync or OpenSubscriberAsync.");

    public static ObjectDisposedException OfPrefix(string prefix) => Of($"The prefix \"{prefix}\"", "OpenPrefixAsync");

    public static ObjectDisposedException OfRequester(string name) => Of($"The requester of \"{name}\"", "OpenRequesterAsync");

    public static ObjectDisposedException OfState(string name) => Of($"The state \"{name}\"", "OpenStateAsync");

    /// <summary>What belongs to a host, whose node does not start again.</summary>
    public static ObjectDisposedException OfHost(string what) => new(
        what, "The host has stopped, and its node with it. End what uses the node earlier, such as in StopAsync of a hosted service.");

    private static ObjectDisposedException Of(string what, string method) =>
        new(what, $"{what} was disposed. Open it again with {method}.");
}
