using System.Text;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Nodes;
using QuickSilver.Nodes.Measures;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests;

public sealed class StatusReasonTests
{
    private const string Page = "docs/health.md";

    [Fact]
    public void Each_kind_has_a_meaning_and_says_what_to_do() => Assert.All(Enum.GetValues<StatusReasonKind>(), kind =>
    {
        Assert.EndsWith(".", StatusReasons.MeaningOf(kind));
        Assert.EndsWith(".", StatusReasons.RemedyFor(kind));
    });

    [Fact]
    public void Each_trouble_of_the_layers_below_is_a_reason_of_the_same_name() => Assert.All(
        Enum.GetValues<TroubleKind>(), kind => Assert.Equal(kind.ToString(), StatusReasons.KindOf(kind).ToString()));

    [Fact]
    public void A_reason_in_words_says_what_for_whom_since_when_and_what_to_do()
    {
        var reason = StatusReasons.Of(StatusReasonKind.TopicOpening, "Opening topic \"t\".", DateTimeOffset.UnixEpoch, "the service");
        Assert.Equal(
            "Opening topic \"t\". Waiting for the service since 1970-01-01 00:00:00 UTC. Look at the load and the log of the membership "
            + "service, and at members that do not answer. The opening continues by itself.",
            reason.ToString());
        Assert.StartsWith("Stopped. Since 1970", (reason with { Description = "Stopped.", WaitsFor = null }).ToString());
    }

    [Fact]
    public async Task A_node_that_has_not_joined_names_the_service_that_it_waits_for()
    {
        await using var parts = new FakeParts { Joins = false, LastFailure = "connection refused" };
        var core = new NodeCore(parts, new QuickSilverOptions { Membership = { Servers = ["10.0.0.1:7400"] } }, new RecordingLogs());
        var reason = Assert.Single(core.ReadStatus().Reasons);
        Assert.Equal(
            (StatusReasonKind.NotJoined, "the membership service at 10.0.0.1:7400"), (reason.Kind, reason.WaitsFor));
        Assert.Contains("Last failure: connection refused.", reason.Description);
    }

    [Fact]
    public async Task A_node_that_is_refused_says_so()
    {
        await using var parts = new FakeParts { Joins = false, LastRefusal = "This is the membership service of cluster 'b'." };
        var core = new NodeCore(parts, new QuickSilverOptions(), new RecordingLogs());
        var reason = Assert.Single(core.ReadStatus().Reasons);
        Assert.Equal(StatusReasonKind.Refused, reason.Kind);
        Assert.EndsWith("refused it. This is the membership service of cluster 'b'.", reason.Description);
        Assert.StartsWith("a membership service of the cluster \"default\" on the network of ", reason.WaitsFor);
    }

    [Fact]
    public async Task A_running_node_names_each_reason_with_its_time_and_keeps_troubles_apart_from_them()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        Assert.Empty(node.Status.Reasons);
        await parts.Core.RunAsync(() => parts.Core.Advance(TimeSpan.FromSeconds(100)));
        await parts.Core.RunAsync(() => parts.Service.Observer!.OnServiceReachable(false));
        var at = DateTimeOffset.UnixEpoch + TimeSpan.FromSeconds(100);
        var unreachable = Assert.Single(node.Status.Reasons);
        Assert.Equal((StatusReasonKind.ServiceUnreachable, at), (unreachable.Kind, unreachable.Since));
        Assert.Equal(unreachable.ToString(), node.Status.Reason);

        parts.Troubles =
        [
            new Trouble(TroubleKind.MemoryFull, "No memory.", at, "free packet memory"),
            new Trouble(TroubleKind.NotHeard, "Deaf.", at),
        ];
        var status = node.Status;
        Assert.Equal(
            [StatusReasonKind.ServiceUnreachable, StatusReasonKind.MemoryFull, StatusReasonKind.NotHeard],
            status.Reasons.Select(static reason => reason.Kind));
        Assert.Equal($"{status.Reasons[0]} {status.Reasons[1]}", status.Reason);
        await parts.Core.RunAsync(() => parts.Service.Observer!.OnServiceReachable(true));
        Assert.True(node.Status.IsReady);
        Assert.Equal(2, node.Status.Reasons.Count);

        await parts.Core.RunAsync(() => parts.Service.Observer!.OnExpelled("ten heartbeats missed"));
        var expelled = node.Status.Reasons[0];
        Assert.Equal((StatusReasonKind.Expelled, at), (expelled.Kind, expelled.Since));
        Assert.Equal("The membership service removed this node: ten heartbeats missed.", expelled.Description);
    }

    [Fact]
    public async Task A_blocked_core_thread_is_reported_since_its_last_pulse()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        parts.Time.Advance(TimeSpan.FromSeconds(10));
        var reason = Assert.Single(node.Status.Reasons);
        Assert.Equal(
            (StatusReasonKind.CoreThreadBlocked,
                "The core thread has not run for 10 s: a handler or a feed blocks it, or the process was stopped."),
            (reason.Kind, reason.Description));
    }

    [Fact]
    public async Task A_node_that_was_disposed_says_so()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        await node.DisposeAsync().OrFail();
        Assert.Equal(StatusReasonKind.Stopped, Assert.Single(node.Status.Reasons).Kind);
    }

    // The page is a file of the repository. An intended change is accepted with QS_ACCEPT_API=1.
    [Fact]
    public void The_page_about_health_lists_all_kinds()
    {
        var page = new StringBuilder(
            """
            # Health and status

            `QuickSilverNode.Status` says whether a node is live and ready, and `NodeStatus.Reasons` says why not, or which problem it has
            although it is ready. Each reason is a record: its kind, what is wrong with names and figures, since when, whom the node
            waits for, and what to do. `NodeStatus.Reason` has the first of them in sentences. Nodes are named by `QuickSilverOptions.Name`
            and their id: `waits for a reader on node orders@web-3 (00c3a2b1f4e5d6c7.1718900000)`.

            In a host, the check `quicksilver-live` fails while the core thread is blocked, and `quicksilver-ready` for the reasons that
            keep the node from being ready. The description of a check is the first reason. Its `Data` has each reason under the name of
            its kind, and the name, the state, the members, the number of open topics and the interface. What a host tries again, it logs
            in one line without a stack trace: events 1700 (the node) and 1701 (a topic, once for each reason, until event 1931 says that
            it is open). A stack trace there (1706, 1707) is a defect.

            The event `QuickSilverNode.StatusChanged` notifies an application when its node may no longer be a member, as on the
            minority side of a divided network. Its arguments have the status before and after (`Previous`, `Current`), and
            `Kind`: `Degraded` when that begins, `Recovered` when the service is back and has the node as a member still, and
            `Expelled` when the node is no longer a member. Handlers run on the thread pool, one after the other. `Degraded` is
            raised after the heartbeat limit has passed without a message of the service (interval times missed heartbeats, 10 s
            by default), and not for a connection that comes back before. Each node has its own event: after `Expelled` a host
            starts another node, which needs the handler again.

            | kind | meaning | what to do |
            |---|---|---|

            """.ReplaceLineEndings("\n"));
        foreach (var kind in Enum.GetValues<StatusReasonKind>())
        {
            page.Append($"| `{kind}` | {StatusReasons.MeaningOf(kind)} | {StatusReasons.RemedyFor(kind)} |\n");
        }

        string file = Path.Combine(RepositoryRoot.Path, Page);
        if (Environment.GetEnvironmentVariable("QS_ACCEPT_API") == "1")
        {
            File.WriteAllText(file, page.ToString());
        }

        Assert.True(
            File.Exists(file) && File.ReadAllText(file).ReplaceLineEndings("\n") == page.ToString(),
            $"{Page} differs from the table. QS_ACCEPT_API=1 writes it again.");
    }
}
