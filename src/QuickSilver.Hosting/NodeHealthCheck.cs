using Microsoft.Extensions.Diagnostics.HealthChecks;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Nodes.Measures;

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
        var status = holder.Current?.Status;
        // A node that has not joined yet has nothing that could hang.
        bool isHealthy = isReadiness ? status is { IsReady: true } : status is not { IsLive: false };
        List<StatusReason> reasons = [.. status?.Reasons ?? []];
        if (isReadiness)
        {
            List<StatusReason> ofHost = [.. WhyNotReady(status)];
            isHealthy &= ofHost.Count == 0;
            // What keeps the node from being ready comes first.
            reasons.InsertRange(status is { IsReady: false } ? 1 : 0, ofHost);
        }

        string? description = reasons is [var first, ..] && (isReadiness || !isHealthy) ? first.ToString() : null;
        var result = new HealthCheckResult(
            isHealthy ? HealthStatus.Healthy : context.Registration.FailureStatus, description, data: Data(status, reasons));
        return Task.FromResult(result);
    }

    // Reasons of one kind, such as two topics that are not open, are numbered.
    private static Dictionary<string, object> Data(NodeStatus? status, List<StatusReason> reasons)
    {
        var data = new Dictionary<string, object>();
        if (status is not null)
        {
            data["Name"] = status.Name;
            data["State"] = status.State.ToString();
            data["Members"] = status.Members;
            data["OpenTopics"] = status.OpenTopics;
        }

        if (status?.Interface is { } place)
        {
            data["Interface"] = place;
        }

        foreach (var reason in reasons)
        {
            string key = reason.Kind.ToString();
            for (int number = 2; !data.TryAdd(key, reason); number++)
            {
                key = $"{reason.Kind}{number}";
            }
        }

        return data;
    }

    private static string Sentence(string text) => text.TrimEnd().EndsWith('.') ? text : $"{text}.";

    private IEnumerable<StatusReason> WhyNotReady(NodeStatus? status)
    {
        if (status is null)
        {
            yield return holder.Failure is { } failure
                ? StatusReasons.Of(
                    StatusReasonKind.StartFailed,
                    $"The node has not joined yet. The last attempt to start it failed: {Sentence(failure)}",
                    holder.Since,
                    "the next attempt")
                : StatusReasons.Of(
                    StatusReasonKind.NotJoined, "The node has not joined yet.", holder.Since, "a membership service that admits it");
            yield break;
        }

        if (leastMembers > 1 && status.Members < leastMembers)
        {
            yield return StatusReasons.Of(
                StatusReasonKind.TooFewMembers,
                $"The cluster has {Counted.Of(status.Members, "member")}, and the host requires {leastMembers}.",
                holder.Since,
                Counted.Of(leastMembers - status.Members, "more member"));
        }

        foreach (var topic in topics)
        {
            if (!topic.IsOpen)
            {
                yield return StatusReasons.Of(
                    StatusReasonKind.TopicNotOpen,
                    topic.Fault is { } fault
                        ? $"Failed to open topic \"{topic.Name}\": {Sentence(fault.Message)}"
                        : $"Topic \"{topic.Name}\" is not open yet.",
                    holder.Since,
                    "the membership service to grant it");
            }

            if (topic.ConsumerFault is var (since, consumer))
            {
                yield return StatusReasons.Of(StatusReasonKind.ConsumerFailed, Sentence(consumer), since);
            }
        }
    }
}
