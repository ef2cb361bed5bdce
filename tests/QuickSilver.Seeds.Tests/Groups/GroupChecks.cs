using QuickSilver.Groups;

namespace QuickSilver.Seeds.Tests.Groups;

// What must hold of the logs of all members, whatever failed: I6 (the same messages between the same views), the order of each sender, the
// one order of the group, and that what is safe reaches all that stay.
internal static class GroupChecks
{
    /// <param name="logs">Those of all members that there were.</param>
    /// <param name="last">Those of the members that there are.</param>
    /// <param name="orderMoves">Whether any member may have ordered, or the oldest of each view did.</param>
    public static void All(IReadOnlyList<MemberLog> logs, IReadOnlyList<MemberLog> last, bool orderMoves)
    {
        var lost = ViewsThatLostTheirOrderer(logs, orderMoves);
        foreach (var log in logs)
        {
            ViewsIncrease(log);
            SendersAreInOrder(log);
            NothingIsMissing(log);
        }

        foreach (var (one, other) in logs.SelectMany((one, i) => logs.Skip(i + 1).Select(other => (one, other))))
        {
            SameBetweenViews(one, other);
            OneOrder(one, other, lost);
            SafeReachesThoseThatStay(one, other);
            SafeReachesThoseThatStay(other, one);
            NothingComesBeforeItsCauses(one, other);
            NothingComesBeforeItsCauses(other, one);
        }

        foreach (var log in last)
        {
            AreSame(log.Last!, log, last[0].Last!, last[0]);
        }
    }

    // The views of which a member that may have ordered did not get the view after them.
    private static HashSet<long> ViewsThatLostTheirOrderer(IReadOnlyList<MemberLog> logs, bool orderMoves)
    {
        var views = logs.SelectMany(static log => log.Views).Select(static one => one.View)
            .DistinctBy(static view => view.Number).OrderBy(static view => view.Number).ToArray();
        var got = logs.SelectMany(static log => log.Views.Select(view => (log.Self, view.View.Number))).ToHashSet();
        return [.. views.Zip(views.Skip(1)).Where(pair => Orderers(pair.First).Any(node => !got.Contains((node, pair.Second.Number))))
            .Select(static pair => pair.First.Number)];

        IEnumerable<NodeId> Orderers(GroupView view) => view.Members.Take(orderMoves ? view.Members.Count : 1);
    }

    private static void ViewsIncrease(MemberLog log)
    {
        for (int i = 1; i < log.Views.Count; i++)
        {
            Assert.True(log.Views[i].View.Number > log.Views[i - 1].View.Number, $"{log}: {log.Views[i].View} comes late.");
        }
    }

    private static void SendersAreInOrder(MemberLog log)
    {
        var last = new Dictionary<NodeId, int>();
        foreach (var message in log.Views.SelectMany(static view => view.Messages))
        {
            Assert.True(
                message.Number > last.GetValueOrDefault(message.Sender, -1),
                $"{log}: {message} comes after {last.GetValueOrDefault(message.Sender)}.");
            last[message.Sender] = message.Number;
        }
    }

    // Where no gap is reported, all that a sender has sent between two of its messages in a view has come.
    private static void NothingIsMissing(MemberLog log)
    {
        foreach (var view in log.Views.Where(static view => !view.HasGap))
        {
            foreach (var sent in view.Messages.GroupBy(static message => message.Sender))
            {
                var (first, last) = (sent.First(), sent.Last());
                Assert.True(last.Number - first.Number + 1 == sent.Count(), $"{view.View}: {log} lacks some between {first} and {last}.");
            }
        }
    }

    // Both have got the view and the one after it.
    private static void SameBetweenViews(MemberLog one, MemberLog other)
    {
        foreach (var (a, b) in CommonViews(one, other))
        {
            if (NextOf(one, a) is { } next && NextOf(other, b) == next && !a.LacksOfOthers && !b.LacksOfOthers)
            {
                AreSame(a, one, b, other);
            }
        }
    }

    private static void AreSame(ViewLog a, MemberLog one, ViewLog b, MemberLog other)
    {
        Assert.True(
            a.Messages.ToHashSet().SetEquals(b.Messages),
            $"{a.View}: {one} has {Difference(a, b)} more than {other}, and lacks {Difference(b, a)}.");
        Assert.True(a.Ordered.SequenceEqual(b.Ordered), $"{a.View}: {one} and {other} have another order.");
    }

    // The last orders that a member got before it failed may be known to none that is left, if the one that decided them has failed, too.
    // What it got before a safe message is in the same order everywhere.
    private static void OneOrder(MemberLog one, MemberLog other, HashSet<long> lost)
    {
        foreach (var (a, b) in CommonViews(one, other))
        {
            var common = a.Ordered.ToHashSet();
            common.IntersectWith(b.Ordered);
            SentMessage[] first = [.. a.Ordered.Where(common.Contains)];
            SentMessage[] second = [.. b.Ordered.Where(common.Contains)];
            bool areLeft = NextOf(one, a) is { } number && NextOf(other, b) == number;
            int agreed = areLeft || !lost.Contains(a.View.Number)
                ? first.Length
                : Math.Max(Array.FindLastIndex(first, IsSafe), Array.FindLastIndex(second, IsSafe)) + 1;
            Assert.True(
                first.AsSpan(0, agreed).SequenceEqual(second.AsSpan(0, agreed)), $"{a.View}: {one} and {other} have another order.");
        }

        static bool IsSafe(SentMessage message) => message.Order == GroupOrder.Safe;
    }

    private static void SafeReachesThoseThatStay(MemberLog one, MemberLog other)
    {
        foreach (var (a, b) in CommonViews(one, other))
        {
            if (NextOf(other, b) is null || b.HasGap)
            {
                continue;
            }

            var lacks = a.Messages.Where(static message => message.Order == GroupOrder.Safe).Except(b.Messages).ToArray();
            Assert.True(lacks.Length == 0, $"{a.View}: {other} lacks {string.Join(", ", lacks.Take(3))}, which {one} got.");
        }
    }

    // A causal message of one that both got in one view comes after all that its sender had got of that view before. A sender names that
    // once, so another member that lacks messages of it need not know.
    private static void NothingComesBeforeItsCauses(MemberLog one, MemberLog other)
    {
        int before = 0;
        var counts = new Dictionary<ViewLog, int>();
        foreach (var view in one.Views)
        {
            counts[view] = before;
            before += view.Messages.Count;
        }

        foreach (var (a, b) in CommonViews(one, other))
        {
            if (b.Lacking.Contains(one.Self))
            {
                continue;
            }

            var places = new Dictionary<SentMessage, int>();
            foreach (var message in b.Messages)
            {
                places[message] = places.Count;
            }

            int latest = -1;
            int at = 0;
            foreach (var message in b.Messages.Where(message => message.Sender == one.Self && message.Order == GroupOrder.Causal))
            {
                for (; at < a.Messages.Count && counts[a] + at < message.After; at++)
                {
                    latest = Math.Max(latest, places.GetValueOrDefault(a.Messages[at], -1));
                }

                Assert.True(
                    places[message] >= latest,
                    $"{a.View}: {other} got {message} before {(latest < 0 ? default : b.Messages[latest])}, which {one} had got.");
            }
        }
    }

    private static IEnumerable<(ViewLog One, ViewLog Other)> CommonViews(MemberLog one, MemberLog other)
    {
        var numbers = other.Views.ToDictionary(static view => view.View.Number);
        foreach (var view in one.Views)
        {
            if (numbers.TryGetValue(view.View.Number, out var same))
            {
                Assert.Equal(view.View.Members, same.View.Members);
                yield return (view, same);
            }
        }
    }

    private static long? NextOf(MemberLog log, ViewLog view) =>
        log.Views.Select(static one => one.View.Number).Where(number => number > view.View.Number).Cast<long?>().FirstOrDefault();

    private static string Difference(ViewLog one, ViewLog other) =>
        string.Join(", ", one.Messages.Except(other.Messages).Take(3)) is { Length: > 0 } some ? some : "none";
}
