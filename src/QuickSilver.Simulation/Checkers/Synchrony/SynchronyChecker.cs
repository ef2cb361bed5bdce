using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Checkers.Synchrony;

// I6: two members of a pinned topic that go from one view to the next together have delivered the same messages in the first, if the view
// has lost fewer members than it has replicas. All agree on the members of a view and on their ranks.
internal sealed class SynchronyChecker(int replicas) : HistoryChecker
{
    private readonly Dictionary<Passage, List<(NodeKey By, MemberView From, string What)>> _passages = [];
    private readonly HashSet<NodeKey> _stopped = [];

    public override string Invariant => "I6";

    /// <summary>Members that came from one view to another and were compared with one before.</summary>
    public int Compared { get; private set; }

    public override void OnStopped(TimeSpan at, int node, NodeKey life) => _stopped.Add(life);

    public void OnPassage(NodeKey member, MemberView from, MemberView to, string delivered)
    {
        var key = new Passage(from.TopicId, from.Configuration, Ranks(from), to.Configuration, Ranks(to));
        if (!_passages.TryGetValue(key, out var all))
        {
            _passages.Add(key, all = []);
        }

        all.Add((member, from, delivered));
    }

    public override void OnEnd()
    {
        foreach (var (passage, all) in _passages)
        {
            bool isWhole = all[0].From.Members.Count(_stopped.Contains) < replicas;
            foreach (var (by, _, what) in all.Skip(1))
            {
                Compared++;
                if (isWhole && what != all[0].What)
                {
                    Violate(
                        TimeSpan.Zero,
                        $"In topic {passage.Topic:x} from configuration {passage.From:x} to {passage.To:x}, node {all[0].By} delivered "
                        + $"[{all[0].What}] and node {by} [{what}].");
                }
            }
        }
    }

    // From one view to the next: the members in the order of their ranks.
    private sealed record Passage(ulong Topic, long From, string Members, long To, string Next);

    private static string Ranks(MemberView view) => string.Join(' ', view.Members);
}
