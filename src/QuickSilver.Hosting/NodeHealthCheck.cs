using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace QuickSilver.Hosting;

// Live and ready apart: a node that waits for its service must not be killed for it, and one that is blocked must not be
// left standing because its service is there.
internal sealed class NodeHealthCheck(NodeHolder holder, IReadOnlyList<IHostedTopic> topics, int leastMembers, bool isReadiness)
    : IHealthCheck
{
    public static NodeHealthCheck Of(HostedNode node, IServiceProvider provider, bool isReadiness) =>
        new(node.Get<NodeHolder>(provider), node.Topics(provider), node.HostingOptions(provider).ReadyWhenMembers, isReadiness);

    public Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default)
    {
        string? reason = isReadiness ? WhyNotReady() : WhyNotLive();
        return Task.FromResult(reason is null
            ? HealthCheckResult.Healthy()
            : new HealthCheckResult(context.Registration.FailureStatus, reason));
    }

    // A node that has not joined yet has nothing that could hang.
    private string? WhyNotLive() => holder.Current?.Status is { IsLive: false } status ? status.Reason : null;

    private string? WhyNotReady()
    {
        if (holder.Current?.Status is not { } status)
        {
            return holder.Failure is { } failure
                ? $"The node has not joined yet. The last attempt to start it failed: {failure}"
                : "The node has not joined yet.";
        }

        if (!status.IsReady)
        {
            return status.Reason;
        }

        if (status.Members < leastMembers && leastMembers > 1)
        {
            return $"The cluster has {status.Members} members. The node is ready with {leastMembers} or more.";
        }

        foreach (var topic in topics)
        {
            if (!topic.IsOpen)
            {
                return topic.Fault is { } fault
                    ? $"Failed to open topic \"{topic.Name}\": {fault.Message}"
                    : $"Topic \"{topic.Name}\" is not open yet.";
            }
        }

        return topics.Select(static topic => topic.ConsumerFault).FirstOrDefault(static fault => fault is not null);
    }
}
