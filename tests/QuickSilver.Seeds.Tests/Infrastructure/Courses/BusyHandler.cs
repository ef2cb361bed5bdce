using QuickSilver.Simulation.Machines;

namespace QuickSilver.Seeds.Tests.Infrastructure.Courses;

// What handlers of one life of a node do with their node, from within: publish to what it publishes, and close what they handle.
internal sealed class BusyHandler(WholeCluster cluster, WholeNode owner, SeededRandom random)
{
    private const double AnswerShare = 0.01;
    private const double CloseShare = 0.001;
    private const int LargestAnswer = 200;

    public void OnMessage(string topic)
    {
        if (!cluster.AreHandlersBusy)
        {
            return;
        }

        if (owner.Publications.Count > 0 && random.Chance(AnswerShare))
        {
            string to = owner.Publications.ElementAt(random.Below(owner.Publications.Count));
            cluster.Publish(owner, to, 16 + random.Below(LargestAnswer));
        }

        if (random.Chance(CloseShare))
        {
            owner.Unsubscribe(topic);
        }
    }
}
