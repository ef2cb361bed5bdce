using QuickSilver.Membership.Client.Watching;
using QuickSilver.Membership.Snapshots;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Doctor.Facts;

// The service waits a second for the nodes. One that answers later, on a machine with much to do, is not silent: it is asked again.
internal static class PatientAnswer
{
    // A node that is silent to all of them has been so for three seconds at least.
    public const int MostQuestions = 3;

    /// <param name="ask">Asks the service, and gives its answer.</param>
    public static async Task<ClusterSnapshot> AskAsync(Func<Task<ClusterSnapshot>> ask)
    {
        var answer = await ask();
        for (int asked = 1; asked < MostQuestions && SilentOf(answer).Any(); asked++)
        {
            ClusterSnapshot next;
            try
            {
                next = await ask();
            }
            catch (ToolException)
            {
                break;
            }

            // The service has removed the node, which was silent until then.
            if (!SilentOf(answer).All(silent => next.Nodes.Any(one => one.Node.Node == silent.Node.Node)))
            {
                break;
            }

            answer = next;
        }

        return answer;
    }

    private static IEnumerable<NodeReport> SilentOf(ClusterSnapshot answer) =>
        answer.Nodes.Where(static one => one.Node.Outcome == SnapshotOutcome.Silent);
}
