using System.Net;
using QuickSilver.Membership.Client.Watching;
using QuickSilver.Membership.Snapshots;
using QuickSilver.Membership.Views;
using QuickSilver.Tool.Doctor.Facts;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Tests.Doctor;

// When the doctor takes a node for silent.
public sealed class PatientAnswerTests
{
    private static readonly NodeKey Slow = new(1, 1);
    private static readonly NodeKey Other = new(2, 1);

    [Fact]
    public async Task A_node_that_answers_a_later_question_is_not_silent()
    {
        var (answer, questions) = await AskAsync([Silent(Slow, 1), Heard(Other)], [Heard(Slow), Heard(Other)]);
        Assert.Equal(2, questions);
        Assert.All(answer.Nodes, static one => Assert.Equal(SnapshotOutcome.Reported, one.Node.Outcome));
    }

    [Fact]
    public async Task A_node_that_answers_no_question_is_silent_and_others_are_asked_once()
    {
        var (answer, questions) = await AskAsync([Silent(Slow, 1)], [Silent(Slow, 2)], [Silent(Slow, 3)], [Silent(Slow, 4)]);
        Assert.Equal(PatientAnswer.MostQuestions, questions);
        Assert.Equal(3000, Assert.Single(answer.Nodes).Node.SilentMillis);
        (_, questions) = await AskAsync([Heard(Slow), Heard(Other)], []);
        Assert.Equal(1, questions);
    }

    [Fact]
    public async Task A_node_that_is_removed_while_it_is_asked_was_silent()
    {
        var (answer, _) = await AskAsync([Silent(Slow, 1), Heard(Other)], [Silent(Slow, 2), Heard(Other)], [Heard(Other)]);
        Assert.Equal([2000, 0], answer.Nodes.Select(static one => one.Node.SilentMillis));
    }

    [Fact]
    public async Task A_service_that_ends_meanwhile_has_answered()
    {
        var (answer, questions) = await AskAsync([Silent(Slow, 1)], null);
        Assert.Equal(2, questions);
        Assert.Equal(SnapshotOutcome.Silent, Assert.Single(answer.Nodes).Node.Outcome);
    }

    private static async Task<(ClusterSnapshot Answer, int Questions)> AskAsync(params NodeReport[]?[] answers)
    {
        int questions = 0;
        var answer = await PatientAnswer.AskAsync(() => Task.FromResult(
            answers[questions++] is { } nodes
                ? new ClusterSnapshot(new ClusterSnapshotMessage(), nodes)
                : throw new ToolException(ExitCode.Failed, "The service is gone.")));
        return (answer, questions);
    }

    private static NodeReport Heard(NodeKey node) => Report(node, SnapshotOutcome.Reported, 0);

    private static NodeReport Silent(NodeKey node, int seconds) => Report(node, SnapshotOutcome.Silent, seconds);

    private static NodeReport Report(NodeKey node, SnapshotOutcome outcome, int seconds) => new(
        new MemberSnapshotMessage
        {
            Node = node,
            EndPoint = new IPEndPoint(IPAddress.Loopback, 1),
            Outcome = outcome,
            SilentMillis = 1000 * seconds,
            Signs = [],
        },
        Signs: null,
        Fault: null);
}
