using QuickSilver.Groups;

namespace QuickSilver.Seeds.Tests.Groups;

// What must hold of the logs of all members, whatever failed: I6 (the same messages between the same views), the order of each sender, the
// one order of the group, and that what is safe reaches all that stay.
internal static class GroupChecks
{
    public static void All(IReadOnlyList<MemberLog> logs)
    {
        foreach (var log in logs)
        {
            ViewsIncrease(log);
            SendersAreInOrder(log);
        }

        foreach (var (one, other) in logs.SelectMany((one, i) => logs.Skip(i + 1).Select(other => (one, other))))
        {
            SameBetweenViews(one, other);
            OneOrder(one, other);
            SafeReachesThoseThatStay(one, other);
            SafeReachesThoseThatStay(other, one);
            NothingComesBeforeItsCauses(one, other);
            NothingComesBeforeItsCauses(other, one);
        }
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

    // Both have got the view and the one after it.
    private static void SameBetweenViews(MemberLog one, MemberLog other)
    {
        foreach (var (a, b) in CommonViews(one, other))
        {
            if (NextOf(one, a) is not { } next || NextOf(other, b) != next || a.HasGap || b.HasGap)
            {
                continue;
            }

            Assert.True(
                a.Messages.ToHashSet().SetEquals(b.Messages),
                $"{a.View}: {one} has {Difference(a, b)} more than {other}, and lacks {Difference(b, a)}.");
            Assert.True(a.Ordered.SequenceEqual(b.Ordered), $"{a.View}: {one} and {other} have another order.");
        }
    }

    private static void OneOrder(MemberLog one, MemberLog other)
    {
        foreach (var (a, b) in CommonViews(one, other))
        {
            var common = a.Ordered.ToHashSet();
            common.IntersectWith(b.Ordered);
            Assert.True(
                a.Ordered.Where(common.Contains).SequenceEqual(b.Ordered.Where(common.Contains)),
                $"{a.View}: {one} and {other} have another order.");
        }
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

    // A causal message of one that both got in one view comes after all that its sender had got of that view before.
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

                Assert.True(places[message] >= latest, $"{a.View}: {other} got {message} before what {one} had got.");
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
